package main

import (
	"fmt"
	"math"
	"reflect"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// filler sets every field of an object, so that the golden file has each field of each type. A struct is filled once and stays empty
// where it appears again, because the file would be too large otherwise.
type filler struct {
	// zeros: pointers, lists and maps get zero values, otherwise other values.
	zeros bool
	count int
	seen  map[reflect.Type]bool
}

func (f *filler) fill(v reflect.Value) {
	f.count++
	if f.fillLeaf(v) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Struct:
		f.fillStruct(v)
	case reflect.Slice:
		f.fillSlice(v)
	case reflect.Map:
		f.fillMap(v)
	default:
		if !f.zeros {
			f.fillScalar(v)
		}
	}
}

func (f *filler) fillStruct(v reflect.Value) {
	if f.seen[v.Type()] {
		return
	}
	f.seen[v.Type()] = true
	for i := range v.NumField() {
		if v.Type().Field(i).Name != "TypeMeta" {
			f.fill(v.Field(i))
		}
	}
}

func (f *filler) fillSlice(v reflect.Value) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		v.SetBytes([]byte{})
		if !f.zeros {
			v.SetBytes([]byte{0xff, 0, byte(f.count), 0x3e})
		}
		return
	}
	length := 2
	if f.zeros || v.Type().Elem().Kind() == reflect.Struct {
		length = 1
	}
	v.Set(reflect.MakeSlice(v.Type(), length, length))
	for i := range length {
		f.fill(v.Index(i))
	}
}

func (f *filler) fillMap(v reflect.Value) {
	v.Set(reflect.MakeMap(v.Type()))
	for _, key := range []string{"b/x", "a.y"} {
		element := reflect.New(v.Type().Elem()).Elem()
		f.fill(element)
		v.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), element)
	}
}

func (f *filler) fillScalar(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("s%d <é😀>", f.count))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32:
		v.SetInt([]int64{1, -1, math.MaxInt32, math.MinInt32, 300}[f.count%5])
	case reflect.Float64:
		v.SetFloat([]float64{1.5, -1, 1e21, 0.000001}[f.count%4])
	case reflect.Int64:
		v.SetInt([]int64{1, -1, math.MaxInt64, math.MinInt64, 1<<53 + 1, -300}[f.count%6])
	default:
		panic("no value for " + v.Type().String())
	}
}

var (
	quantities = []string{"1500m", "10Gi", "-3", "1e3", "12345678901234567890", "0.5Gi"}
	fixedTime  = time.Date(2026, 2, 28, 23, 59, 58, 123456789, time.UTC)
)

// fillLeaf sets types with a JSON form of their own. It never sets the zero time and empty JSON: normalize.ts says why.
func (f *filler) fillLeaf(v reflect.Value) bool {
	switch leaf := v.Addr().Interface().(type) {
	case *resource.Quantity:
		if !f.zeros {
			*leaf = resource.MustParse(quantities[f.count%len(quantities)])
		}
	case *metav1.Time:
		*leaf = metav1.NewTime(fixedTime)
	case *metav1.MicroTime:
		*leaf = metav1.NewMicroTime(fixedTime)
	case *metav1.FieldsV1:
		leaf.SetRawString(`{"f:metadata":{".":{}}}`)
	case *runtime.RawExtension:
		leaf.Raw = []byte(`{"b":[1,null,"x"],"a":{}}`)
	case *apiextensionsv1.JSON:
		leaf.Raw = []byte(`{"a":{},"b":[1,null,"x"]}`)
	case *apiextensionsv1.JSONSchemaPropsOrArray:
		leaf.Schema = &apiextensionsv1.JSONSchemaProps{Type: "string"}
	case *apiextensionsv1.JSONSchemaPropsOrBool:
		leaf.Allows = true
		if !f.zeros {
			leaf.Schema = &apiextensionsv1.JSONSchemaProps{Type: "string"}
		}
	case *apiextensionsv1.JSONSchemaPropsOrStringArray:
		leaf.Property = []string{"a", "b"}
	case *intstr.IntOrString:
		if !f.zeros {
			*leaf = []intstr.IntOrString{intstr.FromInt32(int32(f.count)), intstr.FromString("50%")}[f.count%2]
		}
	default:
		return false
	}
	return true
}
