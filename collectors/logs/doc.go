// Package logs finds the log lines that tell of trouble in a control plane:
// the signatures of RULES.md section 3. It reads a log once, line by line, and
// keeps of each signature a count, the first and last time, and one line.
//
// Lines are told by their shape, not by the file's name: klog (text and
// JSON), etcd's zap JSON and capnslog, each also behind the prefix of a
// container runtime, of Docker's JSON or of journald.
package logs
