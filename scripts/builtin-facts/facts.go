package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"reflect"
	"sort"
	"strconv"
	"strings"
)

// Types whose JSON is not that of their fields. The reader knows each by name; here only their wire form is checked.
var special = map[string]string{
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                                         "1:string",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":                                       "1:int64 2:int32 3:string",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                                             "1:int64 2:int32",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":                                        "1:int64 2:int32",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":                                         "1:bytes",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                                          "1:bytes",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON":                         "1:bytes",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrArray":       "1:JSONSchemaProps 2:[]JSONSchemaProps",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrBool":        "1:bool 2:JSONSchemaProps",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrStringArray": "1:JSONSchemaProps 2:[]string",
}

// What a Go scalar is called in generated.proto.
var protoOf = map[string]string{
	"string": "string", "bool": "bool", "int32": "int32", "int64": "int64", "float64": "double", "[]byte": "bytes", "int": "int32",
}

type fact struct {
	Fields  []string `json:"f,omitempty"`
	Enum    []string `json:"e,omitempty"` // a string with these values
	Items   string   `json:"i,omitempty"` // a list that is a message of its own on the wire: repeated field 1
	Special bool     `json:"s,omitempty"`
	Atomic  bool     `json:"a,omitempty"` // +structType=atomic
	Scope   string   `json:"n,omitempty"` // a resource: "y" namespaced, "n" not
}

// resolved is a Go type with all names that are no type of the table taken away.
type resolved struct {
	text   string // as the table spells it
	scalar string // of a scalar: the Go name
	ref    string // of a reference: import path and name
	of     *resolved
	form   string // "scalar", "ref", "list", "map"
}

func (t *sourceType) isKind() bool {
	fields, ok := t.expr.(*ast.StructType)
	if !ok {
		return false
	}
	for _, field := range fields.Fields.List {
		if len(field.Names) == 0 && strings.HasSuffix(exprText(field.Type), "TypeMeta") {
			return has(t.before, "k8s:deepcopy-gen:interfaces") // TypeMeta alone is also used by helpers
		}
	}
	return false
}

func exprText(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.Ident:
		return expr.Name
	case *ast.SelectorExpr:
		return expr.Sel.Name
	}
	return ""
}

func (w *world) need(path, name string) {
	if w.needed[path] == nil {
		w.needed[path] = map[string]bool{}
	}
	if !w.needed[path][name] {
		w.needed[path][name] = true
		w.queue = append(w.queue, [2]string{path, name})
	}
}

// finish follows references until nothing new appears.
func (w *world) finish() {
	for len(w.queue) > 0 {
		next := w.queue[0]
		w.queue = w.queue[1:]
		if _, err := w.fact(w.load(next[0]), next[1]); err != nil {
			panic(fmt.Sprintf("%s.%s: %v", next[0], next[1], err))
		}
	}
}

func (w *world) fact(pkg *sourcePackage, name string) (*fact, error) {
	source := pkg.types[name]
	if source == nil {
		return nil, fmt.Errorf("no such type")
	}
	out := &fact{Atomic: strings.Join(marker(source.doc, "structType"), "") == "atomic"}
	if has(source.before, "genclient") {
		out.Scope = "y"
		if has(source.before, "genclient:nonNamespaced") {
			out.Scope = "n"
		}
	}
	if wire, ok := special[pkg.path+"."+name]; ok {
		out.Special = true
		if strings.HasPrefix(name, "JSONSchemaPropsOr") {
			w.need(pkg.path, "JSONSchemaProps")
		}
		return out, w.checkSpecial(pkg, name, wire)
	}
	switch expr := source.expr.(type) {
	case *ast.StructType:
		return out, w.structFact(pkg, source, expr, out)
	case *ast.ArrayType:
		item, err := w.resolve(pkg, source, expr.Elt)
		if err != nil {
			return nil, err
		}
		out.Items = item.text
		return out, nil
	case *ast.Ident:
		for _, each := range sortedKeys(pkg.consts) {
			constant := pkg.consts[each]
			if constant.kind != name || has(constant.doc, "enumExclude") {
				continue
			}
			value, err := w.text(pkg, each)
			if err != nil {
				return nil, err
			}
			out.Enum = append(out.Enum, value)
		}
		sort.Strings(out.Enum)
		return out, nil
	}
	return nil, fmt.Errorf("cannot tell a %T", source.expr)
}

func (w *world) checkSpecial(pkg *sourcePackage, name, wire string) error {
	message := name
	if name == "Time" || name == "MicroTime" {
		message = "Timestamp" // both travel as this one; Time's own message in the .proto has the same fields
	}
	fields, ok := pkg.proto[message]
	if !ok {
		fields, ok = pkg.proto[name]
	}
	if !ok {
		return fmt.Errorf("no message in generated.proto")
	}
	var parts []string
	for number := 1; number <= len(fields); number++ {
		kind := fields[number].kind
		if fields[number].repeated {
			kind = "[]" + kind
		}
		parts = append(parts, fmt.Sprintf("%d:%s", number, kind))
	}
	if got := strings.Join(parts, " "); got != wire {
		return fmt.Errorf("travels as %q, the reader expects %q", got, wire)
	}
	return nil
}

func (w *world) structFact(pkg *sourcePackage, source *sourceType, expr *ast.StructType, out *fact) error {
	message := pkg.proto[source.name]
	seen := map[int]bool{}
	for _, field := range expr.Fields.List {
		if field.Tag == nil {
			continue
		}
		tagText, err := strconv.Unquote(field.Tag.Value)
		if err != nil {
			return err
		}
		tag := reflect.StructTag(tagText)
		text, number, err := w.field(pkg, source, field, tag, message)
		if err != nil {
			return fmt.Errorf("field %q: %w", tag.Get("json"), err)
		}
		if number != 0 {
			seen[number] = true
		}
		if text != "" {
			out.Fields = append(out.Fields, text)
		}
	}
	for number, field := range message {
		if !seen[number] {
			return fmt.Errorf("generated.proto has %s = %d, the Go type has not", field.name, number)
		}
	}
	return nil
}

// field spells one field: name, number, type, flags.
func (w *world) field(pkg *sourcePackage, source *sourceType, field *ast.Field, tag reflect.StructTag, message protoMessage) (string, int, error) {
	name, options, _ := strings.Cut(tag.Get("json"), ",")
	if name == "-" {
		return "", 0, nil
	}
	option := map[string]bool{}
	for _, each := range strings.Split(options, ",") {
		option[each] = true
	}
	inline := option["inline"]
	if inline != (name == "") {
		return "", 0, fmt.Errorf("neither named nor inline")
	}

	expr := field.Type
	pointer := false
	if star, ok := expr.(*ast.StarExpr); ok {
		pointer, expr = true, star.X
	}
	kind, err := w.resolve(pkg, source, expr)
	if err != nil {
		return "", 0, err
	}
	number, err := wireNumber(tag, kind, message)
	if err != nil {
		return "", 0, err
	}

	lines := linesOf(field.Doc)
	// What OpenAPI calls required: a marker decides, else whether JSON may leave the field out.
	required := !inline && !option["omitempty"] && !option["omitzero"] && !has(lines, "optional")
	if has(lines, "required") {
		required = true
	}
	flags := ""
	for _, each := range []struct {
		set  bool
		flag string
	}{{pointer, "*"}, {option["omitempty"], "?"}, {option["omitzero"], "0"}, {required, "!"}} {
		if each.set {
			flags += each.flag
		}
	}
	if inline {
		name = "."
	}
	words := []string{name, strconv.Itoa(number), kind.text}
	if flags != "" {
		words = append(words, flags)
	}
	extras, err := w.extras(pkg, lines, tag)
	if err != nil {
		return "", 0, err
	}
	return strings.Join(append(words, extras...), " "), number, nil
}

// extras are the markers: t list type, k list map keys, a map or struct type, s patch strategy, m patch merge key, d default.
func (w *world) extras(pkg *sourcePackage, lines []string, tag reflect.StructTag) ([]string, error) {
	var out []string
	if found := marker(lines, "listType"); len(found) > 0 {
		out = append(out, "t="+found[0])
	}
	if found := marker(lines, "listMapKey"); len(found) > 0 {
		out = append(out, "k="+strings.Join(found, ","))
	}
	for _, each := range []string{"mapType", "structType"} {
		if found := marker(lines, each); len(found) > 0 {
			out = append(out, "a="+found[0])
		}
	}
	strategy, key := tag.Get("patchStrategy"), tag.Get("patchMergeKey")
	for _, each := range []struct{ name, tag string }{{"patchStrategy", strategy}, {"patchMergeKey", key}} {
		if found := marker(lines, each.name); len(found) > 0 && found[0] != each.tag {
			return nil, fmt.Errorf("the comment says %s=%s, the tag %q", each.name, found[0], each.tag)
		}
	}
	if strategy != "" {
		out = append(out, "s="+strategy)
	}
	if key != "" {
		out = append(out, "m="+key)
	}
	if found := marker(lines, "default"); len(found) > 0 {
		value := found[0]
		if name, ok := strings.CutPrefix(value, "ref("); ok {
			text, err := w.text(pkg, strings.TrimSuffix(name, ")"))
			if err != nil {
				return nil, err
			}
			value = encode(text)
		}
		if !json.Valid([]byte(value)) || strings.Contains(value, " ") {
			return nil, fmt.Errorf("cannot carry the default %s", value)
		}
		out = append(out, "d="+value)
	}
	return out, nil
}

// wireNumber reads the number from the tag and holds it against generated.proto. 0 = not on the wire.
func wireNumber(tag reflect.StructTag, kind *resolved, message protoMessage) (int, error) {
	parts := strings.Split(tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return 0, nil
	}
	number, err := strconv.Atoi(parts[1])
	if err != nil {
		return 0, err
	}
	wire, ok := message[number]
	if !ok {
		return 0, fmt.Errorf("number %d is not in generated.proto", number)
	}
	item := kind
	if kind.form == "list" || kind.form == "map" {
		item = kind.of
	}
	if (kind.form == "list") != wire.repeated || (kind.form == "map") != wire.mapped {
		return 0, fmt.Errorf("is a %s here, not so in generated.proto", kind.form)
	}
	switch item.form {
	case "scalar":
		if protoOf[item.scalar] != wire.kind {
			return 0, fmt.Errorf("is a %s here, a %s in generated.proto", item.scalar, wire.kind)
		}
	case "ref":
		if short := item.ref[strings.LastIndex(item.ref, ".")+1:]; wire.kind[strings.LastIndex(wire.kind, ".")+1:] != short {
			return 0, fmt.Errorf("is a %s here, a %s in generated.proto", short, wire.kind)
		}
	default:
		return 0, fmt.Errorf("a %s of a %s", kind.form, item.form)
	}
	return number, nil
}

// resolve follows names down to what the table can say: scalars, references, lists, maps.
func (w *world) resolve(pkg *sourcePackage, source *sourceType, expr ast.Expr) (*resolved, error) {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return w.resolve(pkg, source, expr.X)
	case *ast.ArrayType:
		if ident, ok := expr.Elt.(*ast.Ident); ok && ident.Name == "byte" {
			return &resolved{form: "scalar", scalar: "[]byte", text: "bytes"}, nil
		}
		item, err := w.resolve(pkg, source, expr.Elt)
		if err != nil {
			return nil, err
		}
		return &resolved{form: "list", of: item, text: "[]" + item.text}, nil
	case *ast.MapType:
		key, err := w.resolve(pkg, source, expr.Key)
		if err != nil {
			return nil, err
		}
		if key.scalar != "string" {
			return nil, fmt.Errorf("a map with keys of type %s", key.text)
		}
		value, err := w.resolve(pkg, source, expr.Value)
		if err != nil {
			return nil, err
		}
		return &resolved{form: "map", of: value, text: "{}" + value.text}, nil
	case *ast.SelectorExpr:
		path := source.imports[expr.X.(*ast.Ident).Name]
		if _, ok := w.dirOf(path); !ok {
			return nil, fmt.Errorf("%s is outside of the modules", path)
		}
		return w.named(pkg, w.load(path), expr.Sel.Name)
	case *ast.Ident:
		if _, ok := protoOf[expr.Name]; ok {
			return &resolved{form: "scalar", scalar: expr.Name, text: expr.Name}, nil
		}
		return w.named(pkg, pkg, expr.Name)
	}
	return nil, fmt.Errorf("cannot tell a %T", expr)
}

// named is a type by name, seen from another package: kept as a reference where the table has an entry for it.
func (w *world) named(from, pkg *sourcePackage, name string) (*resolved, error) {
	source := pkg.types[name]
	if source == nil {
		return nil, fmt.Errorf("no type %s in %s", name, pkg.path)
	}
	text := name
	if from != pkg {
		text = openAPIName(pkg.path) + "." + name
	}
	_, isStruct := source.expr.(*ast.StructType)
	_, isList := source.expr.(*ast.ArrayType)
	wrapped := isList && pkg.proto[name] != nil
	_, isSpecial := special[pkg.path+"."+name]
	switch {
	case isStruct || wrapped || isSpecial:
		w.need(pkg.path, name)
		return &resolved{form: "ref", ref: pkg.path + "." + name, text: text}, nil
	case has(source.doc, "enum"):
		w.need(pkg.path, name)
		return &resolved{form: "scalar", scalar: "string", text: text}, nil
	}
	under, err := w.resolve(pkg, source, source.expr)
	if err != nil {
		return nil, err
	}
	// Reached through another package, what the name stands for must be spelled from where it is used.
	if from != pkg {
		under = spelledFrom(from, pkg, under)
	}
	return under, nil
}

func spelledFrom(from, pkg *sourcePackage, kind *resolved) *resolved {
	if kind.of == nil {
		if kind.form == "ref" && !strings.Contains(kind.text, ".") {
			return &resolved{form: kind.form, ref: kind.ref, text: openAPIName(pkg.path) + "." + kind.text}
		}
		return kind
	}
	inner := spelledFrom(from, pkg, kind.of)
	prefix := map[string]string{"list": "[]", "map": "{}"}[kind.form]
	return &resolved{form: kind.form, of: inner, text: prefix + inner.text}
}
