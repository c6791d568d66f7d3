package objects

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The kinds of this file belong to API servers' own extensions. Their Go types
// would bring half an API server along, and of a CustomResourceDefinition,
// which carries the schemas of all its versions, next to nothing is wanted: so
// they are read as JSON into types that hold what is.

// A CustomResourceDefinition is one without its schemas.
type CustomResourceDefinition struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              CRDSpec   `json:"spec"`
	Status            CRDStatus `json:"status"`
}

// A CRDSpec says how objects of a kind are served and converted.
type CRDSpec struct {
	Group      string         `json:"group"`
	Versions   []CRDVersion   `json:"versions"`
	Conversion *CRDConversion `json:"conversion,omitempty"`
}

// A CRDVersion is one version in which objects are served.
type CRDVersion struct {
	Name    string `json:"name"`
	Served  bool   `json:"served"`
	Storage bool   `json:"storage"` // in which objects are written to etcd
}

// A CRDConversion says who turns one version into another.
type CRDConversion struct {
	Strategy string `json:"strategy"` // "None", "Webhook"
	Webhook  *struct {
		ClientConfig *ClientConfig `json:"clientConfig,omitempty"`
	} `json:"webhook,omitempty"`
}

// A CRDStatus is what the API server says of a CustomResourceDefinition.
type CRDStatus struct {
	Conditions     []Condition `json:"conditions,omitempty"`
	StoredVersions []string    `json:"storedVersions,omitempty"` // in which objects may still be in etcd
}

// A ClientConfig says where the API server finds a webhook.
type ClientConfig struct {
	URL      *string           `json:"url,omitempty"`
	Service  *ServiceReference `json:"service,omitempty"`
	CABundle []byte            `json:"caBundle,omitempty"`
}

// A ServiceReference names a port of a Service.
type ServiceReference struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Port      *int32 `json:"port,omitempty"` // 443 if nil
}

// An APIService is a group and version of the API, and who serves it.
type APIService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              APIServiceSpec   `json:"spec"`
	Status            APIServiceStatus `json:"status"`
}

// An APIServiceSpec says who serves a group and version.
type APIServiceSpec struct {
	Service               *ServiceReference `json:"service,omitempty"` // nil: the API server itself
	Group                 string            `json:"group"`
	Version               string            `json:"version"`
	CABundle              []byte            `json:"caBundle,omitempty"`
	InsecureSkipTLSVerify bool              `json:"insecureSkipTLSVerify,omitempty"`
}

// An APIServiceStatus is what the API server says of an APIService.
type APIServiceStatus struct {
	Conditions []Condition `json:"conditions,omitempty"`
}

// A Condition is one of an object's conditions.
type Condition struct {
	Type               string      `json:"type"`
	Status             string      `json:"status"` // "True", "False", "Unknown"
	Reason             string      `json:"reason,omitempty"`
	Message            string      `json:"message,omitempty"`
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
}

// jsonKind is a kind that is asked for and read as JSON only.
func jsonKind[I any, PI interface {
	*I
	Object
}](apiVersion, name, resource string) Kind {
	return Kind{APIVersion: apiVersion, Name: name, Resource: resource, New: func() Object { return PI(new(I)) }}
}

// A ValidatingAdmissionPolicy is one without its expressions. It is read as JSON,
// for the sake of clusters whose version of it Go's types have left behind.
type ValidatingAdmissionPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		FailurePolicy string `json:"failurePolicy,omitempty"` // "Fail" if empty
	} `json:"spec"`
	Status struct {
		TypeChecking *struct {
			ExpressionWarnings []struct {
				FieldRef string `json:"fieldRef"`
				Warning  string `json:"warning"`
			} `json:"expressionWarnings,omitempty"`
		} `json:"typeChecking,omitempty"`
	} `json:"status"`
}
