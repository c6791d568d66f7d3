// Package controllers declares the facts about kube-controller-manager: whether
// its instances are healthy and which leads, its work queues, and whether the
// objects that it looks after are being looked after.
package controllers

import (
	"github.com/ktriage/ktriage/collectors"
	"github.com/ktriage/ktriage/collectors/cluster"
	"github.com/ktriage/ktriage/collectors/leases"
)

// Elected holds the facts that the controller manager has in common with all
// components that elect a leader.
var Elected = leases.NewElected(collectors.Controllers, cluster.RoleControllers, "10257", "/apis/metrics.eks.amazonaws.com/v1/kcm/container")
