package live

import (
	"io"

	"github.com/go-logr/logr"
	"google.golang.org/grpc/grpclog"
	"k8s.io/klog/v2"
)

// Quiet silences the logs of the libraries that this package dials with, which
// would go to standard error. It sets state of the whole process, so it is for
// main to call, once and before anything else.
func Quiet() {
	klog.SetLogger(logr.Discard())
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
}
