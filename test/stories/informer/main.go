// A client as controllers are: shared informers of client-go over a cluster that is written to, killed and restarted meanwhile.
//
//	informer -kubeconfig FILE -namespace NAME -writers N [-protobuf]
//
// Writers create, change and delete config maps until stdin says "stop"; then the program waits until the informer's cache equals a
// fresh list, prints one line of JSON, and ends with 1 when anything was lost, doubled or out of order. Whether lists are streamed is
// client-go's own switch: KUBE_FEATURE_WatchListClient.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const settleLimit = 60 * time.Second

// seen holds what the handlers were told of one object: by uid, because a name may live several times.
type seen struct {
	sync.Mutex
	version map[string]uint64
	gone    map[string]bool
	wrong   []string
	adds    int
	updates int
	deletes int
	repeats int
}

func (s *seen) complain(format string, args ...any) {
	s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
}

func versionOf(object *corev1.ConfigMap) uint64 {
	version, err := strconv.ParseUint(object.ResourceVersion, 10, 64)
	if err != nil {
		panic(err)
	}
	return version
}

func (s *seen) added(object any) {
	s.Lock()
	defer s.Unlock()
	m := object.(*corev1.ConfigMap)
	uid, version := string(m.UID), versionOf(m)
	if s.gone[uid] {
		s.complain("%s came back at %d", m.Name, version)
	}
	if before, ok := s.version[uid]; ok {
		s.complain("%s was added twice, at %d and %d", m.Name, before, version)
	}
	s.version[uid] = version
	s.adds++
}

func (s *seen) updated(old, object any) {
	// What went and came again while nobody watched is told as one change.
	if old.(*corev1.ConfigMap).UID != object.(*corev1.ConfigMap).UID {
		s.deleted(old)
		s.added(object)
		return
	}
	s.Lock()
	defer s.Unlock()
	m := object.(*corev1.ConfigMap)
	uid, version := string(m.UID), versionOf(m)
	before, ok := s.version[uid]
	switch {
	case !ok:
		s.complain("%s changed at %d and was never added", m.Name, version)
	case version < before:
		s.complain("%s went back from %d to %d", m.Name, before, version)
	case version == before:
		// A new list after a broken watch tells again what is known.
		s.repeats++
	default:
		s.updates++
	}
	s.version[uid] = version
}

func (s *seen) deleted(object any) {
	s.Lock()
	defer s.Unlock()
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	m := object.(*corev1.ConfigMap)
	uid := string(m.UID)
	if _, ok := s.version[uid]; !ok {
		s.complain("%s was deleted and never added", m.Name)
	}
	delete(s.version, uid)
	s.gone[uid] = true
	s.deletes++
}

type report struct {
	Written      int64    `json:"written"`
	Failed       int64    `json:"failed"`
	Lost         int      `json:"lost"`
	Adds         int      `json:"adds"`
	Updates      int      `json:"updates"`
	Deletes      int      `json:"deletes"`
	Repeats      int      `json:"repeats"`
	Objects      int      `json:"objects"`
	SettleMillis int64    `json:"settleMs"`
	Wrong        []string `json:"wrong"`
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "")
	namespace := flag.String("namespace", "default", "")
	writers := flag.Int("writers", 4, "")
	protobuf := flag.Bool("protobuf", false, "")
	flag.Parse()

	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	must(err)
	config.QPS, config.Burst = -1, -1
	if *protobuf {
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	}
	client, err := kubernetes.NewForConfig(config)
	must(err)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()

	told := &seen{version: map[string]uint64{}, gone: map[string]bool{}}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(*namespace))
	maps := factory.Core().V1().ConfigMaps()
	registration, err := maps.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: told.added, UpdateFunc: told.updated, DeleteFunc: told.deleted})
	must(err)
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		must(fmt.Errorf("the cache was never in step"))
	}
	fmt.Println("synced")

	var written, failed atomic.Int64
	// What was acknowledged last for each name: an empty string for a deletion. Names belong to one writer each.
	acknowledged := make([]map[string]string, *writers)
	writing, stop := context.WithCancel(ctx)
	var wait sync.WaitGroup
	for index := range *writers {
		acknowledged[index] = map[string]string{}
		wait.Add(1)
		go func() {
			defer wait.Done()
			write(writing, client, *namespace, index, acknowledged[index], &written, &failed)
		}()
	}

	for lines := bufio.NewScanner(os.Stdin); lines.Scan() && lines.Text() != "stop"; {
	}
	stop()
	wait.Wait()

	result := report{}
	settling := time.Now()
	for {
		problems, objects := compare(ctx, client, *namespace, maps.Lister().ConfigMaps(*namespace).List)
		result.Objects = objects
		if len(problems) == 0 {
			break
		}
		if time.Since(settling) > settleLimit {
			result.Wrong = append(result.Wrong, problems...)
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	result.SettleMillis = time.Since(settling).Milliseconds()
	// A handler may be one event behind the cache.
	time.Sleep(100 * time.Millisecond)

	for _, names := range acknowledged {
		for name, version := range names {
			object, err := client.CoreV1().ConfigMaps(*namespace).Get(ctx, name, metav1.GetOptions{})
			switch {
			case version == "" && err == nil, version != "" && (err != nil || object.ResourceVersion != version):
				result.Lost++
				result.Wrong = append(result.Wrong, fmt.Sprintf("%s: acknowledged as %q, found %v", name, version, err))
			}
		}
	}
	told.Lock()
	result.Written, result.Failed = written.Load(), failed.Load()
	result.Adds, result.Updates, result.Deletes, result.Repeats = told.adds, told.updates, told.deletes, told.repeats
	result.Wrong = append(result.Wrong, told.wrong...)
	if told.adds-told.deletes != result.Objects {
		result.Wrong = append(result.Wrong, fmt.Sprintf("%d added and %d deleted leave %d objects", told.adds, told.deletes, result.Objects))
	}
	told.Unlock()
	line, err := json.Marshal(result)
	must(err)
	fmt.Println(string(line))
	if len(result.Wrong) > 0 {
		os.Exit(1)
	}
}

// write changes names of its own. An answer that never came leaves a name undecided until the next answer about it.
func write(ctx context.Context, client kubernetes.Interface, namespace string, writer int, acknowledged map[string]string, written, failed *atomic.Int64) {
	maps := client.CoreV1().ConfigMaps(namespace)
	random := rand.New(rand.NewSource(int64(writer)))
	for step := 0; ctx.Err() == nil; step++ {
		name := fmt.Sprintf("w%d-%d", writer, random.Intn(12))
		object, err := maps.Get(context.Background(), name, metav1.GetOptions{})
		version := ""
		switch {
		case apierrors.IsNotFound(err):
			object, err = maps.Create(context.Background(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"step": strconv.Itoa(step)}}, metav1.CreateOptions{})
		case err != nil:
		case random.Intn(4) == 0:
			object, err = nil, maps.Delete(context.Background(), name, metav1.DeleteOptions{})
		default:
			object.Data = map[string]string{"step": strconv.Itoa(step)}
			object, err = maps.Update(context.Background(), object, metav1.UpdateOptions{})
		}
		if err != nil {
			failed.Add(1)
			delete(acknowledged, name)
			time.Sleep(20 * time.Millisecond)
			continue
		}
		if object != nil {
			version = object.ResourceVersion
		}
		acknowledged[name] = version
		written.Add(1)
	}
}

func compare(ctx context.Context, client kubernetes.Interface, namespace string, list func(labels.Selector) ([]*corev1.ConfigMap, error)) ([]string, int) {
	fresh, err := client.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return []string{err.Error()}, 0
	}
	cached, err := list(labels.Everything())
	must(err)
	versions := map[string]string{}
	for _, object := range cached {
		versions[object.Name] = object.ResourceVersion
	}
	var problems []string
	for _, object := range fresh.Items {
		if versions[object.Name] != object.ResourceVersion {
			problems = append(problems, fmt.Sprintf("%s is %s, cached %q", object.Name, object.ResourceVersion, versions[object.Name]))
		}
		delete(versions, object.Name)
	}
	for name, version := range versions {
		problems = append(problems, fmt.Sprintf("%s is gone, cached %s", name, version))
	}
	return problems, len(fresh.Items)
}
