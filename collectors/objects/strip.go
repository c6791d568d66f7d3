package objects

import (
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Strip takes away what no verdict needs and what may be confidential: managed
// fields but for their times, annotations that are not Kubernetes' own, and of
// containers the environment, the arguments of ordinary ones, lifecycle hooks
// and probes' headers.
//
// The command lines of the control plane's own containers are kept: they say
// where a component listens and what it was told. Values of flags that carry a
// secret are taken out.
func Strip(o Object) {
	mf := o.GetManagedFields()
	for i := range mf {
		mf[i].FieldsV1 = nil
	}
	o.SetManagedFields(mf)
	stripAnnotations(o)
	switch o := o.(type) {
	case *corev1.Pod:
		stripPod(&o.Spec, controlPlane(o.ObjectMeta))
	case *appsv1.Deployment:
		stripTemplate(&o.Spec.Template)
	case *appsv1.ReplicaSet:
		stripTemplate(&o.Spec.Template)
	case *appsv1.StatefulSet:
		stripTemplate(&o.Spec.Template)
	case *appsv1.DaemonSet:
		stripTemplate(&o.Spec.Template)
	case *batchv1.Job:
		stripTemplate(&o.Spec.Template)
	case *batchv1.CronJob:
		stripTemplate(&o.Spec.JobTemplate.Spec.Template)
	case *corev1.Node:
		o.Status.Images = nil // a list of some hundred names that nothing reads
	case *admissionv1.ValidatingWebhookConfiguration:
		for i := range o.Webhooks {
			stripURL(&o.Webhooks[i].ClientConfig)
		}
	case *admissionv1.MutatingWebhookConfiguration:
		for i := range o.Webhooks {
			stripURL(&o.Webhooks[i].ClientConfig)
		}
	case *CustomResourceDefinition:
		if c := o.Spec.Conversion; c != nil && c.Webhook != nil && c.Webhook.ClientConfig != nil && c.Webhook.ClientConfig.URL != nil {
			u, _, _ := strings.Cut(*c.Webhook.ClientConfig.URL, "?")
			c.Webhook.ClientConfig.URL = &u
		}
	case *resourcev1.ResourceClaim:
		o.Spec.Devices.Config = nil // for the driver alone, in a form of its own
		if a := o.Status.Allocation; a != nil {
			a.Devices.Config = nil
		}
	case *resourcev1.DeviceClass:
		o.Spec.Config = nil
	case *certificatesv1.CertificateSigningRequest:
		o.Spec.Request = nil // what is asked for tells names; that it waits is enough
		if len(o.Status.Certificate) > 0 {
			o.Status.Certificate = []byte(Issued)
		}
	}
}

// Issued stands for a certificate that was issued.
const Issued = "issued"

// controlPlane reports whether a pod is one of the control plane's: a mirror
// of a static pod in a namespace that only administrators write to.
func controlPlane(m metav1.ObjectMeta) bool {
	if m.Namespace != "kube-system" && !strings.HasPrefix(m.Namespace, "openshift-") {
		return false
	}
	_, mirror := m.Annotations[corev1.MirrorPodAnnotationKey]
	return mirror || m.Labels["tier"] == "control-plane"
}

func stripAnnotations(o Object) {
	as := o.GetAnnotations()
	for k := range as {
		domain, _, ok := strings.Cut(k, "/")
		if !ok || k == corev1.LastAppliedConfigAnnotation || !strings.HasSuffix(domain, "kubernetes.io") && !strings.HasSuffix(domain, "k8s.io") {
			delete(as, k)
		}
	}
	if len(as) == 0 {
		as = nil
	}
	o.SetAnnotations(as)
}

func stripTemplate(t *corev1.PodTemplateSpec) {
	t.Annotations = nil
	stripPod(&t.Spec, false)
}

func stripPod(s *corev1.PodSpec, keepCommand bool) {
	for n, cs := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range cs {
			c := &cs[i]
			c.Env, c.EnvFrom, c.Lifecycle = nil, nil, nil
			if n == 0 || !keepCommand {
				c.Command, c.Args = nil, nil
			}
			stripFlags(c.Command)
			stripFlags(c.Args)
			for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
				if p != nil {
					p.Exec = nil
					if p.HTTPGet != nil {
						p.HTTPGet.HTTPHeaders = nil
					}
				}
			}
		}
	}
	for i := range s.EphemeralContainers {
		c := &s.EphemeralContainers[i].EphemeralContainerCommon
		c.Env, c.EnvFrom, c.Lifecycle, c.Command, c.Args = nil, nil, nil, nil, nil
	}
}

// stripFlags takes the values of flags that carry a secret themselves, not the
// name of its file.
func stripFlags(words []string) {
	for i, w := range words {
		name, _, ok := strings.Cut(w, "=")
		if !ok || strings.HasSuffix(name, "-file") || !strings.HasPrefix(name, "-") {
			continue
		}
		for _, secret := range [...]string{"password", "token", "secret"} {
			if strings.Contains(name, secret) {
				words[i] = name + "=…"
			}
		}
	}
}

// stripURL keeps scheme, host and path of a webhook's URL: a query may carry a
// token.
func stripURL(c *admissionv1.WebhookClientConfig) {
	if c.URL != nil {
		u, _, _ := strings.Cut(*c.URL, "?")
		c.URL = &u
	}
}
