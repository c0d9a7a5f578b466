// A controller as people write them with controller-runtime: of every Shop it makes a Deployment and a ConfigMap by server-side apply, and reports in the
// Shop's status by server-side apply. What it does not force, another manager may keep: then it says so.
package main

import (
	"context"
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const owner = client.FieldOwner("shop-controller")

var shopKind = schema.GroupVersionKind{Group: "shops.example.com", Version: "v1", Kind: "Shop"}

func newShop() *unstructured.Unstructured {
	shop := &unstructured.Unstructured{}
	shop.SetGroupVersionKind(shopKind)
	return shop
}

type reconciler struct{ client.Client }

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	shop := newShop()
	if err := r.Get(ctx, request.NamespacedName, shop); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	err := r.apply(ctx, shop)
	if err != nil && !apierrors.IsConflict(err) {
		return ctrl.Result{}, err
	}
	if err := r.report(ctx, shop, err); err != nil {
		return ctrl.Result{}, err
	}
	fmt.Printf("reconciled %s generation %d\n", request.Name, shop.GetGeneration())
	return ctrl.Result{}, nil
}

func (r *reconciler) apply(ctx context.Context, shop *unstructured.Unstructured) error {
	name, namespace := shop.GetName(), shop.GetNamespace()
	image, _, _ := unstructured.NestedString(shop.Object, "spec", "image")
	replicas, hasReplicas, _ := unstructured.NestedInt64(shop.Object, "spec", "replicas")
	labels, _, _ := unstructured.NestedStringMap(shop.Object, "spec", "labels")
	force, _, _ := unstructured.NestedBool(shop.Object, "spec", "force")

	settings := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1",
		"kind":       "ConfigMap",
		"metadata":   map[string]any{"name": name, "namespace": namespace},
		"data":       map[string]any{"image": image},
	}}
	//nolint:staticcheck // The older way, which most controllers in use still go.
	if err := r.Patch(ctx, settings, client.Apply, owner, client.ForceOwnership); err != nil {
		return err
	}

	selector := map[string]string{"shop": name}
	spec := appsapply.DeploymentSpec().
		WithSelector(metaapply.LabelSelector().WithMatchLabels(selector)).
		WithTemplate(coreapply.PodTemplateSpec().WithLabels(selector).WithSpec(
			coreapply.PodSpec().WithContainers(coreapply.Container().WithName("shop").WithImage(image))))
	if hasReplicas {
		spec = spec.WithReplicas(int32(replicas))
	}
	deployment := appsapply.Deployment(name, namespace).WithLabels(labels).WithSpec(spec).WithOwnerReferences(
		metaapply.OwnerReference().WithAPIVersion(shopKind.GroupVersion().String()).WithKind(shopKind.Kind).
			WithName(name).WithUID(shop.GetUID()).WithController(true))
	options := []client.ApplyOption{owner}
	if force {
		options = append(options, client.ForceOwnership)
	}
	return r.Apply(ctx, deployment, options...)
}

func (r *reconciler) report(ctx context.Context, shop *unstructured.Unstructured, conflict error) error {
	status, message := "True", "applied"
	if conflict != nil {
		status, message = "False", conflict.Error()
	}
	report := newShop()
	report.SetName(shop.GetName())
	report.SetNamespace(shop.GetNamespace())
	report.Object["status"] = map[string]any{
		"observedGeneration": shop.GetGeneration(),
		"conditions":         []any{map[string]any{"type": "Applied", "status": status, "message": message}},
	}
	return r.Status().Patch(ctx, report, client.Apply, owner, client.ForceOwnership)
}

func main() {
	ctrl.SetLogger(zap.New())
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics:                server.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
	})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).Named("shop").For(newShop()).Owns(&appsv1.Deployment{}).
		Complete(&reconciler{manager.GetClient()})
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}
