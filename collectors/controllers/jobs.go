package controllers

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
)

// long is how long a Job may be at work before that is worth a word.
// Source: kubernetes-mixin, KubeJobNotCompleted.
const long = 12 * time.Hour

// Jobs are those that no controller has begun, or whose ended pods it does not
// count.
var Jobs = newLoop("jobs", "the Jobs that no controller has begun, whose ended pods it does not count, or that do not end", "Job", "job",
	func() looker {
		return each[*batchv1.Job](func(l *Loop, o *batchv1.Job, now time.Time) {
			switch {
			case o.Spec.ManagedBy != nil && *o.Spec.ManagedBy != batchv1.JobControllerName, suspended(o), ended(o):
				// somebody else's, put off, or done
			case o.Status.StartTime == nil:
				since := changed(o, false) // a Job may have been put off until then
				if since.IsZero() {
					since = o.CreationTimestamp.Time
				}
				l.behind(o, now, since)
			case uncounted(o) && unchanged(o, now) > Patience:
				l.behind(o, now, changed(o, true))
			default:
				if age := now.Sub(o.Status.StartTime.Time); age > long && o.Spec.ActiveDeadlineSeconds == nil {
					l.hold(o, "not ended yet", age)
				}
			}
		})
	}, list("/apis/batch/v1/jobs"))

func suspended(o *batchv1.Job) bool { return o.Spec.Suspend != nil && *o.Spec.Suspend }

func ended(o *batchv1.Job) bool {
	for _, c := range o.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == "True" {
			return true
		}
	}
	return false
}

// uncounted reports whether pods have ended whose finalizers the controller has
// not taken away yet. It does so in two writes, one right after the other.
func uncounted(o *batchv1.Job) bool {
	u := o.Status.UncountedTerminatedPods
	return u != nil && len(u.Succeeded)+len(u.Failed) > 0
}

// CronJobs are those that were not started at their times.
var CronJobs = newLoop("cronjobs", "the CronJobs whose last times went by without a Job", "CronJob", "cronjob",
	func() looker {
		return each[*batchv1.CronJob](func(l *Loop, o *batchv1.CronJob, now time.Time) {
			if o.Spec.Suspend != nil && *o.Spec.Suspend {
				return
			}
			if o.Spec.ConcurrencyPolicy == batchv1.ForbidConcurrent && len(o.Status.Active) > 0 {
				return // the one before is still at work
			}
			c, ok := parseCron(o.Spec.Schedule)
			if !ok {
				l.hold(o, "a schedule that is not understood here", 0)
				return
			}
			since := o.CreationTimestamp.Time
			if t := o.Status.LastScheduleTime; t != nil {
				since = t.Time
			}
			if t := changed(o, false); t.After(since) {
				since = t // it may have been suspended, or had another schedule
			}
			zone := time.UTC // that of the controller manager, which is UTC in its image
			if o.Spec.TimeZone != nil {
				z, err := time.LoadLocation(*o.Spec.TimeZone)
				if err != nil {
					return
				}
				zone = z
			}
			if first, n := c.missed(since.In(zone), now.In(zone)); n >= misses {
				l.behind(o, now, first)
			}
		})
	}, list("/apis/batch/v1/cronjobs"))

// misses are the times in a row at which nothing was started from which on it
// is no chance: whatever hour it is there, and for whatever reason one was left
// out.
const misses = 3
