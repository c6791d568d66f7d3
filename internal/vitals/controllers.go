package vitals

import (
	"github.com/ktriage/ktriage/checks"
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/controllers"
)

// controllersGroup tells how deep the leader's queues are, and of the busiest
// how long objects wait and how much is retried.
var controllersGroup = Group{
	Component: collectors.Controllers,
	Needs:     []collectors.Any{controllers.Elected.Leads, controllers.WorkQueues},
	Read:      readControllers,
}

// busiest is how many queues are worth a line.
const busiest = 3

func readControllers(s *collectors.Snapshot, add func(Vital)) {
	leads, _ := controllers.Elected.Leads.Answers(s)
	for _, l := range leads {
		q, gap := controllers.WorkQueues.Of(s, l.Target)
		if l.Gap != nil || !l.Value.Leads || gap != nil {
			continue // the queues of one that does not lead are empty
		}
		t, deep := l.Target, 0.0
		for _, x := range q.By {
			deep += x.Depth
		}
		add(Vital{Target: t, Name: "queued", Value: deep, Basis: checks.AtInstant})
		for _, x := range q.Busiest(busiest) {
			add(Vital{Target: t, Name: "depth", Of: x.Name, Value: x.Depth, Basis: checks.AtInstant})
			add(Vital{Target: t, Name: "adds", Of: x.Name, Value: q.Rate(x.Adds), Unit: "1/s", Basis: checks.OverWindow})
			add(Vital{Target: t, Name: "retries", Of: x.Name, Value: q.Rate(x.Retries), Unit: "1/s", Basis: checks.OverWindow})
			addP99(t, "wait p99", x.Wait, func(v Vital) {
				v.Of = x.Name
				add(v)
			})
		}
	}
}
