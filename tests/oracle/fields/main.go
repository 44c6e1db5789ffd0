// Command fields prints an object with every field set for each kind of a generation of resource.k8s.io, one per line.
// The build tag names the release whose types are used; each has its own go.mod.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

type object struct {
	version string
	value   any
}

var count int

// fill sets everything below v; every text is another one.
func fill(v reflect.Value) {
	count++
	switch known := v.Addr().Interface().(type) {
	case *resource.Quantity:
		*known = resource.MustParse(fmt.Sprintf("%dGi", count))
		return
	case *metav1.Time:
		*known = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
		return
	case *runtime.RawExtension:
		known.Raw = []byte(fmt.Sprintf(`{"raw":%d}`, count))
		return
	case *metav1.ObjectMeta:
		*known = metav1.ObjectMeta{
			Name: fmt.Sprintf("name-%d", count), Namespace: "default", UID: "u", ResourceVersion: "1", Generation: 2,
			CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
			Labels:            map[string]string{"label": "value"}, Annotations: map[string]string{"note": "text"},
			Finalizers:      []string{"example.com/finalizer"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "o"}},
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Type().Field(i).Name != "TypeMeta" {
				fill(v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString(fmt.Sprintf("text-%d", count))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(int64(count))
	default:
		panic(v.Kind())
	}
}

func main() {
	out := json.NewEncoder(os.Stdout)
	for _, item := range objects() {
		v := reflect.ValueOf(item.value).Elem()
		fill(v)
		kind := v.Type().Name()
		v.FieldByName("TypeMeta").Set(reflect.ValueOf(metav1.TypeMeta{Kind: kind, APIVersion: item.version}))
		if err := out.Encode(map[string]any{"release": release, "object": item.value}); err != nil {
			panic(strings.TrimSpace(err.Error()))
		}
	}
}
