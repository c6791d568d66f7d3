// Package placement declares the facts about what a scheduler looks at when it
// looks for a node: all that keeps a pod from one. They are asked for only while
// a pod fits nowhere.
package placement
