package etcd

import (
	"testing"
	"time"
)

// TestWhatIsLeftOfTheFirstProbe goes through the notes that etcd makes 5 s, 35 s
// and 65 s after its start.
func TestWhatIsLeftOfTheFirstProbe(t *testing.T) {
	for _, tt := range []struct {
		own, peer     time.Duration
		above, atMost float64
	}{
		{3 * time.Second, time.Hour, 4.9, 5},
		{20 * time.Second, 20 * time.Second, 4.8, 5},     // noted after 5 s, after one probe
		{42 * time.Second, 42 * time.Second, 1.7, 1.8},   // noted after 35 s
		{97 * time.Second, 97 * time.Second, 0.23, 0.25}, // noted after 95 s
		{time.Hour, 42 * time.Second, 1.1, 5},            // the peer was restarted
		{time.Hour, time.Hour, 0, 1e-9},
	} {
		if got := ofTheStart(tt.own, tt.peer); got < tt.above || got > tt.atMost {
			t.Errorf("up for %s and %s: %.3f s, want %.2f to %.2f", tt.own, tt.peer, got, tt.above, tt.atMost)
		}
	}
}
