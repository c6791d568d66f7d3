package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ktriage/ktriage/lab/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// smallQuota of etcd's database is soon full.
const smallQuota = 32 << 20

func withSmallQuota(o *cluster.Options) {
	o.SetArg(cluster.Etcd, "quota-backend-bytes", fmt.Sprint(smallQuota))
}

const (
	// ballastSize is near the most that a ConfigMap may hold.
	ballastSize  = 900 << 10
	ballastLabel = "ballast"
	// noSpace is what etcd, and so the API server, answers when the quota is full.
	noSpace = "database space exceeded"
)

// fill creates big ConfigMaps until etcd's database has that size; 0 means until
// etcd refuses to take more.
func fill(ctx context.Context, lab *cluster.Lab, size float64) error {
	client, err := lab.Client()
	if err != nil {
		return err
	}
	ballast := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "ballast-", Labels: map[string]string{ballastLabel: ""}},
		BinaryData: map[string][]byte{"ballast": bytes.Repeat([]byte{'#'}, ballastSize)},
	}
	for range 10 * smallQuota / ballastSize {
		_, err := client.CoreV1().ConfigMaps(cluster.WorkloadNamespace).Create(ctx, ballast, metav1.CreateOptions{})
		if size == 0 && err != nil && strings.Contains(err.Error(), noSpace) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("create ballast: %w", err)
		}
		metrics, err := lab.EtcdMetrics(ctx, 0)
		if err != nil {
			return err
		}
		if size > 0 && metrics["etcd_mvcc_db_total_size_in_bytes"] >= size {
			return nil
		}
	}
	return errors.New("etcd took all ballast there is")
}

// dropBallast deletes what fill created and compacts it away: etcd's pages are
// free then, and its file is as large as before.
func dropBallast(ctx context.Context, lab *cluster.Lab) error {
	client, err := lab.Client()
	if err != nil {
		return err
	}
	err = client.CoreV1().ConfigMaps(cluster.WorkloadNamespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: ballastLabel})
	if err != nil {
		return fmt.Errorf("delete ballast: %w", err)
	}
	metrics, err := lab.EtcdMetrics(ctx, 0)
	if err != nil {
		return err
	}
	_, err = lab.Etcdctl(ctx, "compact", "--physical", fmt.Sprintf("%.0f", metrics["etcd_debugging_mvcc_current_revision"]))
	return err
}

// freeSpace gives the space back as well.
func freeSpace(ctx context.Context, lab *cluster.Lab) error {
	if err := dropBallast(ctx, lab); err != nil {
		return err
	}
	for _, endpoint := range lab.Options.EtcdEndpoints() {
		if _, err := lab.Etcdctl(ctx, "defrag", "--endpoints="+endpoint); err != nil {
			return err
		}
	}
	return nil
}

// alarmed waits for etcd's alarm.
func alarmed(ctx context.Context, lab *cluster.Lab) error {
	return cluster.Until(ctx, effectTimeout, "etcd's alarm", func(ctx context.Context) error {
		out, err := lab.Etcdctl(ctx, "alarm", "list")
		if err == nil && !strings.Contains(out, "NOSPACE") {
			err = errors.New("no alarm yet")
		}
		return err
	})
}
