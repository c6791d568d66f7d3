package objects

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// bareList is the kind of a list that holds nothing but metadata.
const bareList = "PartialObjectMetadataList"

// as asks for such a list instead of the kind's own.
const as = ";as=" + bareList + ";g=meta.k8s.io;v=v1"

// bareKind is a kind of which only the metadata is asked for: the API server
// leaves out the rest, which is large or confidential.
func bareKind(apiVersion, name, resource string) Kind {
	k := kind[metav1.PartialObjectMetadata, metav1.PartialObjectMetadataList](apiVersion, name, resource,
		func(l *metav1.PartialObjectMetadataList) []metav1.PartialObjectMetadata { return l.Items })
	k.bare = true
	return k
}

// Accept is the media types in which the kind's lists can be read, the
// preferred one first.
func (k Kind) Accept() string {
	switch {
	case k.list == nil:
		return JSON
	case k.bare:
		return Protobuf + as + ", " + JSON + as
	}
	return Protobuf + ", " + JSON
}

// isList reports whether a list of that kind is one of k.
func (k Kind) isList(kind string) bool {
	return kind == k.Name+"List" || k.bare && kind == bareList
}
