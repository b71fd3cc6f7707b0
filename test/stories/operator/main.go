// An operator as people write them with controller-runtime: a manager with leader election, a cached client and a reconciler that owns
// what it makes. For each config map labelled story=wanted it keeps a deployment and a service, with an owner reference, a finalizer and
// a condensed report in the deployment's status; it is run against a cluster as envtest would, and says what it saw.
//
//	operator -kubeconfig FILE -namespace NAME -count N
//
// It creates N config maps, changes and deletes them, waits until the world is as it should be, prints one line of JSON and ends.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	finalizer  = "stories.example.com/operator"
	settleTime = 60 * time.Second
)

type reconciler struct {
	client.Client
	reconciled atomic.Int64
	conflicts  atomic.Int64
	finalized  atomic.Int64
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	r.reconciled.Add(1)
	result, err := r.reconcile(ctx, request)
	if apierrors.IsConflict(err) {
		r.conflicts.Add(1)
		return ctrl.Result{RequeueAfter: 10 * time.Millisecond}, nil
	}
	return result, err
}

func (r *reconciler) reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var wanted corev1.ConfigMap
	if err := r.Get(ctx, request.NamespacedName, &wanted); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if wanted.Labels["story"] != "wanted" {
		return ctrl.Result{}, nil
	}
	if !wanted.DeletionTimestamp.IsZero() {
		if controllerutil.RemoveFinalizer(&wanted, finalizer) {
			r.finalized.Add(1)
			return ctrl.Result{}, client.IgnoreNotFound(r.Update(ctx, &wanted))
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(&wanted, finalizer) {
		return ctrl.Result{}, r.Update(ctx, &wanted)
	}
	labels := map[string]string{"app": wanted.Name}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: wanted.Namespace, Name: wanted.Name}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		deployment.Spec.Template.Labels = labels
		if len(deployment.Spec.Template.Spec.Containers) == 0 {
			deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "registry.example/main:1"}}
		}
		deployment.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "VALUE", Value: wanted.Data["value"]}}
		return controllerutil.SetControllerReference(&wanted, deployment, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: wanted.Namespace, Name: wanted.Name}}
	if _, err := controllerutil.CreateOrPatch(ctx, r.Client, service, func() error {
		service.Spec.Selector = labels
		service.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)}}
		return controllerutil.SetControllerReference(&wanted, service, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	before := client.MergeFrom(deployment.DeepCopy())
	deployment.Status.ObservedGeneration = deployment.Generation
	return ctrl.Result{}, r.Status().Patch(ctx, deployment, before)
}

type report struct {
	Reconciled int64    `json:"reconciled"`
	Conflicts  int64    `json:"conflicts"`
	Finalized  int64    `json:"finalized"`
	Wrong      []string `json:"wrong"`
}

func until(ctx context.Context, what string, wrong *[]string, holds func() (bool, error)) {
	deadline := time.Now().Add(settleTime)
	var last error
	for time.Now().Before(deadline) && ctx.Err() == nil {
		var ok bool
		if ok, last = holds(); ok {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	*wrong = append(*wrong, fmt.Sprintf("%s: not within %s: %v", what, settleTime, last))
}

func run() error {
	namespace := flag.String("namespace", "", "where the story takes place")
	count := flag.Int("count", 20, "config maps")
	flag.Parse()
	path := flag.Lookup("kubeconfig").Value.String()
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 500, 500
	ctx, cancel := context.WithCancel(log.IntoContext(context.Background(), ctrl.Log))
	defer cancel()
	manager, err := ctrl.NewManager(config, ctrl.Options{
		LeaderElection:                true,
		LeaderElectionID:              "operator.stories.example.com",
		LeaderElectionNamespace:       *namespace,
		LeaderElectionReleaseOnCancel: true,
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		Cache:                         cache.Options{DefaultNamespaces: map[string]cache.Config{*namespace: {}}},
	})
	if err != nil {
		return err
	}
	reconcile := &reconciler{Client: manager.GetClient()}
	if err := ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Owns(&appsv1.Deployment{}).Owns(&corev1.Service{}).Complete(reconcile); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	select {
	case <-manager.Elected():
	case err := <-ended:
		return err
	case <-time.After(settleTime):
		return fmt.Errorf("was not elected within %s", settleTime)
	}

	direct, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	out := report{Wrong: []string{}}
	name := func(i int) client.ObjectKey {
		return client.ObjectKey{Namespace: *namespace, Name: fmt.Sprintf("wanted-%d", i)}
	}
	for i := range *count {
		object := &corev1.ConfigMap{Data: map[string]string{"value": "1"}}
		object.Namespace, object.Name, object.Labels = *namespace, name(i).Name, map[string]string{"story": "wanted"}
		if err := direct.Create(ctx, object); err != nil {
			return err
		}
	}
	valueIs := func(i int, value string) (bool, error) {
		var deployment appsv1.Deployment
		if err := direct.Get(ctx, name(i), &deployment); err != nil {
			return false, err
		}
		return deployment.Spec.Template.Spec.Containers[0].Env[0].Value == value && deployment.Status.ObservedGeneration == deployment.Generation, nil
	}
	for i := range *count {
		until(ctx, name(i).Name+" made", &out.Wrong, func() (bool, error) { return valueIs(i, "1") })
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"data":{"value":"2"}}`))
		object := &corev1.ConfigMap{}
		object.Namespace, object.Name = *namespace, name(i).Name
		if err := direct.Patch(ctx, object, patch); err != nil {
			return err
		}
	}
	for i := range *count {
		until(ctx, name(i).Name+" followed", &out.Wrong, func() (bool, error) { return valueIs(i, "2") })
		// What its owner takes back comes again.
		if err := direct.Delete(ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: *namespace, Name: name(i).Name}}); err != nil {
			return err
		}
	}
	for i := range *count {
		until(ctx, name(i).Name+" repaired", &out.Wrong, func() (bool, error) {
			var service corev1.Service
			err := direct.Get(ctx, name(i), &service)
			return err == nil && service.DeletionTimestamp.IsZero() && service.Spec.ClusterIP != "", err
		})
	}
	if err := direct.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(*namespace), client.MatchingLabels{"story": "wanted"}); err != nil {
		return err
	}
	until(ctx, "all gone, what they owned too", &out.Wrong, func() (bool, error) {
		var maps corev1.ConfigMapList
		var deployments appsv1.DeploymentList
		var services corev1.ServiceList
		for _, list := range []client.ObjectList{&maps, &deployments, &services} {
			if err := direct.List(ctx, list, client.InNamespace(*namespace)); err != nil {
				return false, err
			}
		}
		left := 0
		for _, item := range maps.Items {
			if item.Labels["story"] == "wanted" {
				left++
			}
		}
		left += len(deployments.Items) + len(services.Items)
		return left == 0, fmt.Errorf("%d left", left)
	})
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			return err
		}
	case <-time.After(settleTime):
		return fmt.Errorf("the manager did not stop within %s", settleTime)
	}
	out.Reconciled, out.Conflicts, out.Finalized = reconcile.reconciled.Load(), reconcile.conflicts.Load(), reconcile.finalized.Load()
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		return err
	}
	if len(out.Wrong) > 0 {
		return fmt.Errorf("%d things are wrong", len(out.Wrong))
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
