package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log"
	"path/filepath"
	"strconv"
	"strings"
)

// sourceType is one `type X …` of a package, with the comments that carry markers.
type sourceType struct {
	name    string
	expr    ast.Expr
	imports map[string]string // name used in this file -> import path
	doc     []string          // lines of the comment right above
	before  []string          // lines of all comments since the declaration before
}

type sourcePackage struct {
	path   string
	types  map[string]*sourceType
	consts map[string]sourceConst
	proto  map[string]protoMessage
}

type sourceConst struct {
	kind    string // name of its type, "" when not stated
	value   ast.Expr
	imports map[string]string
	doc     []string
}

type world struct {
	dirs   map[string]string
	loaded map[string]*sourcePackage
	needed map[string]map[string]bool
	queue  [][2]string
}

func newWorld(dirs map[string]string) *world {
	return &world{dirs: dirs, loaded: map[string]*sourcePackage{}, needed: map[string]map[string]bool{}}
}

func (w *world) dirOf(path string) (string, bool) {
	for module, dir := range w.dirs {
		if rest, ok := strings.CutPrefix(path, module+"/"); ok {
			return filepath.Join(dir, rest), true
		}
	}
	return "", false
}

func (w *world) load(path string) *sourcePackage {
	if pkg := w.loaded[path]; pkg != nil {
		return pkg
	}
	dir, ok := w.dirOf(path)
	if !ok {
		log.Fatalf("%s is in none of the modules", path)
	}
	pkg := &sourcePackage{path: path, types: map[string]*sourceType{}, consts: map[string]sourceConst{}}
	w.loaded[path] = pkg
	files := token.NewFileSet()
	notTest := func(info fs.FileInfo) bool { return !strings.HasSuffix(info.Name(), "_test.go") }
	parsed, err := parser.ParseDir(files, dir, notTest, parser.ParseComments)
	if err != nil {
		log.Fatal(err)
	}
	for _, each := range parsed {
		for _, name := range sortedKeys(each.Files) {
			pkg.read(each.Files[name])
		}
	}
	if pkg.proto, err = readProto(dir); err != nil {
		log.Fatal(err)
	}
	return pkg
}

func (pkg *sourcePackage) read(file *ast.File) {
	imports := map[string]string{}
	for _, each := range file.Imports {
		path, _ := strconv.Unquote(each.Path.Value)
		name := filepath.Base(path)
		if each.Name != nil {
			name = each.Name.Name
		}
		imports[name] = path
	}
	end := token.NoPos
	for _, decl := range file.Decls {
		if generic, ok := decl.(*ast.GenDecl); ok {
			switch generic.Tok {
			case token.TYPE:
				for _, spec := range generic.Specs {
					pkg.readType(file, generic, spec.(*ast.TypeSpec), imports, end)
				}
			case token.CONST:
				for _, spec := range generic.Specs {
					pkg.readConst(spec.(*ast.ValueSpec), imports)
				}
			}
		}
		end = decl.End()
	}
}

func (pkg *sourcePackage) readType(file *ast.File, decl *ast.GenDecl, spec *ast.TypeSpec, imports map[string]string, after token.Pos) {
	doc := spec.Doc
	if doc == nil {
		doc = decl.Doc
	}
	var before []string
	for _, group := range file.Comments {
		if group.Pos() > after && group.End() <= decl.TokPos {
			before = append(before, linesOf(group)...)
		}
	}
	pkg.types[spec.Name.Name] = &sourceType{name: spec.Name.Name, expr: spec.Type, imports: imports, doc: linesOf(doc), before: before}
}

func (pkg *sourcePackage) readConst(spec *ast.ValueSpec, imports map[string]string) {
	for i, name := range spec.Names {
		if i >= len(spec.Values) {
			return // iota and repetition: never a value of an API
		}
		each := sourceConst{value: spec.Values[i], imports: imports, doc: linesOf(spec.Doc)}
		if ident, ok := spec.Type.(*ast.Ident); ok {
			each.kind = ident.Name
		} else if call, ok := each.value.(*ast.CallExpr); ok && spec.Type == nil {
			if ident, ok := call.Fun.(*ast.Ident); ok {
				each.kind = ident.Name
			}
		}
		pkg.consts[name.Name] = each
	}
}

// text is the value of a string constant, followed through names, conversions and packages.
func (w *world) text(pkg *sourcePackage, name string) (string, error) {
	constant, ok := pkg.consts[name]
	if !ok {
		return "", fmt.Errorf("no constant %s in %s", name, pkg.path)
	}
	value := constant.value
	if call, ok := value.(*ast.CallExpr); ok && len(call.Args) == 1 {
		value = call.Args[0]
	}
	switch value := value.(type) {
	case *ast.BasicLit:
		if value.Kind == token.STRING {
			return strconv.Unquote(value.Value)
		}
	case *ast.Ident:
		return w.text(pkg, value.Name)
	case *ast.SelectorExpr:
		return w.text(w.load(constant.imports[exprText(value.X)]), value.Sel.Name)
	}
	return "", fmt.Errorf("%s is not a string constant", name)
}

func linesOf(group *ast.CommentGroup) []string {
	if group == nil {
		return nil
	}
	var lines []string
	for _, comment := range group.List {
		lines = append(lines, strings.TrimSpace(strings.TrimPrefix(comment.Text, "//")))
	}
	return lines
}

// marker gives the values of `+name` or `+name=value` lines, in order.
func marker(lines []string, name string) []string {
	var values []string
	for _, line := range lines {
		rest, ok := strings.CutPrefix(line, "+"+name)
		if !ok {
			continue
		}
		if value, ok := strings.CutPrefix(rest, "="); ok {
			values = append(values, strings.TrimSpace(value))
		} else if rest == "" || rest[0] == ' ' {
			values = append(values, "")
		}
	}
	return values
}

func has(lines []string, name string) bool { return len(marker(lines, name)) > 0 }
