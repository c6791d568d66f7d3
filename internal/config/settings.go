package config

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A kind is what a setting's value is.
type kind int

const (
	text kind = iota
	path      // relative to the file's folder
	duration
	number
	whole
	yes // true or false
	list
	choice
)

// A known setting has the name of its flag. In the file, those of etcd stand
// below etcd without their prefix; in the environment, it is in capitals behind
// KTRIAGE_.
type known struct {
	flag    string
	kind    kind
	choices []string
	// other is a variable that other tools know the setting by.
	other string
}

var settings = []known{
	{flag: "context"},
	{flag: "kubeconfig", kind: path, other: "KUBECONFIG"},
	{flag: "request-timeout", kind: duration},
	{flag: "window", kind: duration},
	{flag: "timeout", kind: duration},
	{flag: "max-qps", kind: number},
	{flag: "max-in-flight", kind: whole},
	{flag: "node-name", other: "NODE_NAME"},
	{flag: "forward-token", kind: yes},
	{flag: "logs", kind: yes},
	{flag: "log-lines", kind: whole},
	{flag: "log-since", kind: duration},
	{flag: "fail-on", kind: choice, choices: []string{"warning", "unknown", "critical", "never"}},
	{flag: "advice", kind: yes},
	{flag: "color", kind: choice, choices: []string{"auto", "always", "never"}},
	{flag: "etcd-endpoints", kind: list, other: "ETCDCTL_ENDPOINTS"},
	{flag: "etcd-cacert", kind: path, other: "ETCDCTL_CACERT"},
	{flag: "etcd-cert", kind: path, other: "ETCDCTL_CERT"},
	{flag: "etcd-key", kind: path, other: "ETCDCTL_KEY"},
	{flag: "etcd-insecure-skip-tls-verify", kind: yes, other: "ETCDCTL_INSECURE_SKIP_TLS_VERIFY"},
}

// Flags lists the flags that a file and the environment can set.
func Flags() []string {
	var out []string
	for _, s := range settings {
		out = append(out, s.flag)
	}
	return out
}

// Variable is the environment variable that sets a flag.
func Variable(flag string) string {
	return "KTRIAGE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Other is the variable by which other tools know a flag's setting, which goes
// before the file too; "" if there is none.
func Other(flag string) string {
	if s, ok := setting(flag); ok {
		return s.other
	}
	return ""
}

func setting(flag string) (known, bool) {
	for _, s := range settings {
		if s.flag == flag {
			return s, true
		}
	}
	return known{}, false
}

// Valid reports what is wrong with a setting's value.
func Valid(flag, value string) error {
	s, ok := setting(flag)
	if !ok {
		return fmt.Errorf("there is no setting %q", flag)
	}
	switch s.kind {
	case duration:
		if d, err := time.ParseDuration(value); err != nil || d < 0 {
			return fmt.Errorf("%q is not a duration such as 30s", value)
		}
	case number:
		if x, err := strconv.ParseFloat(value, 64); err != nil || !(x > 0 && x < 1e9) {
			return fmt.Errorf("%q is not a number above 0", value)
		}
	case whole:
		if n, err := strconv.Atoi(value); err != nil || n <= 0 {
			return fmt.Errorf("%q is not a whole number above 0", value)
		}
	case yes:
		if _, err := strconv.ParseBool(value); err != nil {
			return fmt.Errorf("%q is neither true nor false", value)
		}
	case choice:
		for _, c := range s.choices {
			if c == value {
				return nil
			}
		}
		return fmt.Errorf("%q is none of %s", value, strings.Join(s.choices, ", "))
	}
	return nil
}

// absolute makes a path of the file's folder, as in a kubeconfig.
func absolute(file, value string) string {
	if value == "" || filepath.IsAbs(value) {
		return value
	}
	return filepath.Join(filepath.Dir(file), value)
}
