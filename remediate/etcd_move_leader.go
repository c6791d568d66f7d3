package remediate

// Lead lets another member lead.
var Lead = Recipe{
	ID:    "etcd-move-leader",
	Title: "let another etcd member lead, without an election",
	Doc: `Hands leadership to the member that --to names, or to one that has caught up, and
checks with every member that it arrived. For a leader whose node is to be
rebooted, or whose disk is slow.`,
	plan: func(p *planner) error {
		to := p.Options.To
		switch _, ok := p.State.Member(to); {
		case p.State.Leader == "":
			return refusef("see ktriage doctor", "the members do not agree on a leader")
		case len(p.State.Members) == 1:
			p.note("there is no other member")
			return nil
		case to != "" && !ok:
			return refusef("see etcdctl member list", "--to: there is no member %q", to)
		case to == p.State.Leader:
			p.note("%s leads already", to)
			return nil
		}
		if to == "" {
			var err error
			if to, err = p.successor(p.State.Leader, ""); err != nil {
				return err
			}
		}
		p.move(to, "it was asked for")
		return nil
	},
}
