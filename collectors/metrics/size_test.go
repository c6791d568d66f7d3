package metrics

import (
	"io"
	"runtime"
	"strconv"
	"testing"
)

// endlessBody serves n lines of one unwanted and one wanted family, without
// ever holding them.
type endlessBody struct {
	n, at      int
	line, rest []byte
}

func (b *endlessBody) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		if b.at == b.n {
			return 0, io.EOF
		}
		b.at++
		family := "apiserver_request_duration_seconds_bucket"
		if b.at%2 == 0 {
			family = "wanted_total"
		}
		r := append(b.line[:0], family...)
		r = append(r, `{component="apiserver",group="apps",scope="cluster",resource="res`...)
		r = strconv.AppendInt(r, int64(b.at%997), 10)
		r = append(r, `",verb="V`...)
		r = strconv.AppendInt(r, int64(b.at%7), 10)
		r = append(r, `"} `...)
		r = strconv.AppendInt(r, int64(b.at), 10)
		b.line = append(r, '\n')
		b.rest = b.line
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// TestMemoryFollowsWhatIsWanted holds that a body a hundred times as long costs
// no more memory, while what is wanted of it stays the same.
func TestMemoryFollowsWhatIsWanted(t *testing.T) {
	allocated := func(lines int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		set, err := Parse(&endlessBody{n: lines}, []Select{{Name: "wanted_total", By: []string{"verb"}}})
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(set.Series("wanted_total")); got != 7 {
			t.Fatalf("%d series", got)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	allocated(100) // what is made once
	small, large := allocated(20_000), allocated(2_000_000)
	if large > 2*small+1<<16 {
		t.Errorf("20,000 lines cost %d bytes, 2,000,000 cost %d", small, large)
	}
}
