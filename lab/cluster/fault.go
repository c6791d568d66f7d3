package cluster

import (
	"errors"
	"os"
	"strings"
)

// Fault is the name of the fault that is in place, or "". It is kept in the
// lab's folder: who heals is often not who injected.
func (l *Lab) Fault() string {
	text, err := os.ReadFile(l.Options.faultFile())
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// SetFault notes that a fault is in place; "" that none is.
func (l *Lab) SetFault(name string) error {
	if name == "" {
		if err := os.Remove(l.Options.faultFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	return os.WriteFile(l.Options.faultFile(), []byte(name+"\n"), 0o644)
}
