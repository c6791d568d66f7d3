package fit

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// Quantity writes an amount of a resource as people do: "1500m", "3.2 GiB", "2".
func Quantity(name string, n int64) string {
	switch {
	case name == string(v1.ResourceCPU):
		if n%1000 == 0 {
			return fmt.Sprint(n / 1000)
		}
		return fmt.Sprintf("%dm", n)
	case name == string(v1.ResourceMemory), name == string(v1.ResourceEphemeralStorage), strings.HasPrefix(name, v1.ResourceHugePagesPrefix):
		return bytes(n)
	}
	return fmt.Sprint(n)
}

func bytes(n int64) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	x, i := float64(n), 0
	for x >= 1024 && i < len(units)-1 {
		x /= 1024
		i++
	}
	if x == float64(int64(x)) {
		return fmt.Sprintf("%s%d %s", sign, int64(x), units[i])
	}
	return fmt.Sprintf("%s%.1f %s", sign, x, units[i])
}

// names lists a few objects by name, and how many more there are.
func names(refs []Ref) string {
	var parts []string
	for _, r := range few(refs) {
		parts = append(parts, r.Namespace+"/"+r.Name)
	}
	if more := len(refs) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}

// few is enough to show what is meant.
func few(refs []Ref) []Ref { return refs[:min(3, len(refs))] }

// nodeSelectorText writes a node selector on one line.
func nodeSelectorText(s *v1.NodeSelector) string {
	if s == nil {
		return ""
	}
	var terms []string
	for i := range s.NodeSelectorTerms {
		t := &s.NodeSelectorTerms[i]
		var parts []string
		for _, e := range t.MatchExpressions {
			parts = append(parts, requirementText(e))
		}
		for _, e := range t.MatchFields {
			parts = append(parts, requirementText(e))
		}
		if len(parts) == 0 {
			parts = []string{"nothing"}
		}
		terms = append(terms, strings.Join(parts, " and "))
	}
	return strings.Join(terms, ", or ")
}

func requirementText(e v1.NodeSelectorRequirement) string {
	values := strings.Join(e.Values, ",")
	switch e.Operator {
	case v1.NodeSelectorOpIn:
		if len(e.Values) == 1 {
			return e.Key + "=" + values
		}
		return fmt.Sprintf("%s in (%s)", e.Key, values)
	case v1.NodeSelectorOpNotIn:
		if len(e.Values) == 1 {
			return e.Key + "!=" + values
		}
		return fmt.Sprintf("%s not in (%s)", e.Key, values)
	case v1.NodeSelectorOpExists:
		return "label " + e.Key
	case v1.NodeSelectorOpDoesNotExist:
		return "no label " + e.Key
	case v1.NodeSelectorOpGt:
		return e.Key + ">" + values
	case v1.NodeSelectorOpLt:
		return e.Key + "<" + values
	}
	return e.Key
}

func topologyText(terms []v1.TopologySelectorTerm) string {
	var or []string
	for _, t := range terms {
		var and []string
		for _, e := range t.MatchLabelExpressions {
			and = append(and, e.Key+"="+strings.Join(e.Values, ","))
		}
		or = append(or, strings.Join(and, " and "))
	}
	return strings.Join(or, ", or ")
}
