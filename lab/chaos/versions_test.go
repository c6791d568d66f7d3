package chaos

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/ktriage/ktriage/lab/build"
)

// TestOlderVersions carries every cure of etcd out on whole clusters of older
// lines, and holds that on a cluster of two lines none is.
func TestOlderVersions(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: it makes network namespaces")
	}
	if os.Getenv("KTRIAGE_BIN") == "" {
		t.Skip("KTRIAGE_BIN names no program to test")
	}
	older := build.Sets()[1]
	v36, v35 := older.Etcd, older.OldEtcd
	for _, tt := range []struct {
		name  string
		old   map[int]string
		mixed bool
	}{
		{"etcd " + v36, map[int]string{0: v36, 1: v36, 2: v36}, false},
		{"etcd " + v35, map[int]string{0: v35, 1: v35, 2: v35}, false},
		{"two of " + v36 + " and one of " + build.Default.Etcd, map[int]string{0: v36, 1: v36}, true},
		{"two of " + v35 + " and one of " + v36, map[int]string{0: v35, 1: v35, 2: v36}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := makeCluster(t, setup{members: 3, old: tt.old, disk: diskSize, base: t.TempDir()})
			c.fragment(28)
			dir := t.TempDir()
			run := func(want int, words string, args ...string) {
				t.Helper()
				p := ktriage(t, c, dir, nil, args...)
				if code := p.exit(t); code != want || !strings.Contains(p.text(), words) {
					t.Errorf("ktriage %s exited %d, want %d and %q:\n%s", strings.Join(args, " "), code, want, words, p.text())
				}
			}
			before := map[string]int64{}
			for _, m := range c.members {
				st, err := c.status(m)
				if err != nil {
					t.Fatal(err)
				}
				before[m.name] = st.DbSize
			}
			if tt.mixed {
				for _, r := range []string{"etcd-defrag", "etcd-compact", "etcd-snapshot", "etcd-move-leader"} {
					run(exitRefused, "an upgrade is under way", "fix", r, "--yes", "--max-stall", "1m")
				}
				for _, m := range c.members {
					if st, err := c.status(m); err != nil || st.DbSize < before[m.name] {
						t.Errorf("%s was touched: %v, %v", m.name, st, err)
					}
				}
				return
			}
			leader := c.leader()
			run(exitOK, "done: etcd-snapshot", "fix", "etcd-snapshot", "--yes", "--file", filepath.Join(dir, "a.db"))
			run(exitOK, "done: etcd-defrag", "fix", "etcd-defrag", "--yes", "--max-stall", "1m")
			for _, m := range c.members {
				if st, err := c.status(m); err != nil || st.DbSize > before[m.name]/2 {
					t.Errorf("%s was not defragmented: %v, %v", m.name, st, err)
				}
			}
			if c.leader() == leader {
				t.Errorf("%s leads still: it was defragmented as the leader", leader.name)
			}
			run(exitOK, "done: etcd-move-leader", "fix", "etcd-move-leader", "--to", leader.name, "--yes", "--max-stall", "1m")
			if now := c.leader(); now != leader {
				t.Errorf("%s leads, want %s", now.name, leader.name)
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			put, err := c.client.Put(ctx, "x", "1")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.client.Put(ctx, "x", "2"); err != nil {
				t.Fatal(err)
			}
			run(exitOK, "done: etcd-compact", "fix", "etcd-compact", "--aggressive", "--yes")
			if _, err := c.client.Get(ctx, "x", clientv3.WithRev(put.Header.Revision)); err == nil {
				t.Error("history is still there after the compaction")
			}
			run(exitOK, "NOSPACE is not raised", "fix", "etcd-nospace", "--yes")
		})
	}
}
