package reporttest

import (
	"reflect"

	"github.com/ktriage/ktriage/internal/report"
)

// Attacks is what a name in a cluster can hold to harm who reads a report of it.
const Attacks = "\x1b[31mred\x1b]0;title\x07 <script>alert(1)</script><img src=x onerror=alert(2)> " +
	"</style></svg>]]>--><!-- javascript:alert(3) '\" onmouseover=\"alert(4) **bold** [link](http://evil.example) " +
	"![i](http://evil.example/x.png) @everyone #1 `tick` ```\n# heading\n- item\r\n::error title=x::injected\n\n|cell|\n" +
	"http://evil.example www.evil.example \u202ereversed \u0000 \xff {{.}} %0A::stop"

// Hostile is a report in which each text that can come of a cluster holds
// attacks.
func Hostile() *report.Report { return Poisoned(Attacks) }

// Poisoned is a report in which each text ends in s.
func Poisoned(s string) *report.Report {
	r := Sample()
	poison(reflect.ValueOf(r).Elem(), s)
	r.SchemaVersion = report.SchemaVersion
	return r
}

func poison(v reflect.Value, s string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + s)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				poison(v.Field(i), s)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), s)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem(), s)
		}
	}
}
