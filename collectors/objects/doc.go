// Package objects reads lists of Kubernetes objects, as protobuf from an API
// server or as JSON and YAML from files, one object at a time, and takes away
// what no verdict needs before anyone sees it: a Secret's data, the
// environment of containers, annotations that carry whole manifests. What is
// taken away here is in no recording.
package objects
