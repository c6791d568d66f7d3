package faults

import (
	"context"
	"fmt"
	"sync"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// bulky objects are what the storm lists: 300 config maps of 100 kB.
	bulky     = "bulky"
	bulkyMaps = 300
	bulkySize = 100 << 10
)

var apiServerListStorm = Fault{
	Name: "apiserver-list-storm",
	Doc:  "A dozen clients list 30 MB of config maps from etcd again and again, on an API server for a small control plane (30 requests at a time). They take all seats of their level; the disks are fine.",
	Want: Problem{Check: "apf-seats-exhausted"},
	// Lists that take long hold their seats for long, and others wait for one.
	Or: []Problem{{Check: "apiserver-read-latency-slo"}, {Check: "apf-wait-latency"}},
	// Etcd reads what is listed, on the same two processors as everybody else.
	Also:  []string{"etcd-apply-slow", "etcd-heartbeat-failures"},
	Scars: true,
	Inject: func(ctx context.Context, lab *cluster.Lab) error {
		if err := fillBulky(ctx, lab); err != nil {
			return err
		}
		if err := reconfigure(ctx, lab, map[string]string{"max-requests-inflight": "20", "max-mutating-requests-inflight": "10"}); err != nil {
			return err
		}
		return lab.StartHelper(ctx, greedy, 0, cluster.Helper{Clients: &cluster.Clients{
			Kubeconfig: lab.Options.TokenKubeconfig(), Path: "/api/v1/configmaps?resourceVersion=", Count: 12,
		}})
	},
	Wait: func(ctx context.Context, lab *cluster.Lab) error {
		return cluster.Until(ctx, effectTimeout, "lists that take seconds", func(ctx context.Context) error {
			metrics, err := lab.APIServerMetrics(ctx)
			if err != nil {
				return err
			}
			lists := metrics.Sum("apiserver_request_sli_duration_seconds_count", `resource="configmaps"`, `verb="LIST"`)
			if lists < 2*turnedAway {
				return fmt.Errorf("%.0f lists are done", lists)
			}
			return nil
		})
	},
	Heal: func(ctx context.Context, lab *cluster.Lab) error {
		if err := lab.StopHelper(ctx, greedy); err != nil {
			return err
		}
		if err := remove(ctx, lab, "/api/v1/namespaces/"+bulky); err != nil {
			return err
		}
		return reconfigure(ctx, lab, nil)
	},
}

func fillBulky(ctx context.Context, lab *cluster.Lab) error {
	client, err := lab.Client()
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: bulky}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create namespace: %w", err)
	}
	var wg sync.WaitGroup
	errs := make(chan error, bulkyMaps)
	next := make(chan int)
	for range 6 {
		wg.Go(func() {
			for i := range next {
				_, err := client.CoreV1().ConfigMaps(bulky).Create(ctx, &corev1.ConfigMap{
					ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("bulk-%d", i)},
					BinaryData: map[string][]byte{"data": make([]byte, bulkySize)},
				}, metav1.CreateOptions{})
				if err != nil {
					errs <- fmt.Errorf("create config map: %w", err)
				}
			}
		})
	}
	for i := range bulkyMaps {
		next <- i
	}
	close(next)
	wg.Wait()
	close(errs)
	return <-errs
}
