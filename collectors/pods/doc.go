// Package pods declares the facts about pods that wait: how many, for how long,
// and who has to act next.
package pods
