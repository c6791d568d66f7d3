package metrics

import "slices"

// All as the only element of Select.By keeps every label.
const All = "*"

// A Select names one family to keep, and the labels to keep apart.
// Series that differ in other labels only are added up, which is right for
// counters and histograms; of a gauge, keep every label that tells series
// apart. The labels le and quantile are always kept.
type Select struct {
	Name string   // without the suffixes _bucket, _sum and _count of a histogram
	By   []string // labels to keep; none: the sum over all series
}

// Merge returns the selections that satisfy both a and b.
func Merge(a, b []Select) []Select {
	out := slices.Clone(a)
	for _, s := range b {
		i := slices.IndexFunc(out, func(o Select) bool { return o.Name == s.Name })
		if i < 0 {
			out = append(out, s)
			continue
		}
		by := slices.Concat(out[i].By, s.By)
		if slices.Contains(by, All) {
			by = []string{All}
		}
		slices.Sort(by)
		out[i].By = slices.Compact(by)
	}
	return out
}

// Covers reports whether what a keeps suffices for b.
func Covers(a, b []Select) bool {
	for _, s := range b {
		i := slices.IndexFunc(a, func(o Select) bool { return o.Name == s.Name })
		if i < 0 {
			return false
		}
		if slices.Contains(a[i].By, All) {
			continue
		}
		for _, l := range s.By {
			if !slices.Contains(a[i].By, l) {
				return false
			}
		}
	}
	return true
}
