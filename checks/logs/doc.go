// Package logs judges what the logs of the control plane say: one check for
// each signature of collectors/logs. Its pages are made of the same table.
//
// A log tells of the past. What it says is a warning at most, unless the line
// itself means that a process ended or that its data is damaged: how many lines
// make an outage, no source says. What stopped is advice: it explains, and does
// not alarm.
package logs
