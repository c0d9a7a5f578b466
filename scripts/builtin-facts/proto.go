package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

type protoField struct {
	name     string
	number   int
	kind     string // the type as written, without a leading dot
	repeated bool
	mapped   bool // map<string, kind>
}

type protoMessage map[int]protoField

var (
	messageLine = regexp.MustCompile(`^message (\w+) \{`)
	fieldLine   = regexp.MustCompile(`^\s+(optional|repeated|required) \.?([\w.]+) (\w+) = (\d+)( \[.*\])?;`)
	mapLine     = regexp.MustCompile(`^\s+map<(\w+), \.?([\w.]+)> (\w+) = (\d+)( \[.*\])?;`)
)

// readProto understands what go-to-protobuf writes, which is a small part of the language: flat messages, one field per line.
func readProto(dir string) (map[string]protoMessage, error) {
	text, err := os.ReadFile(filepath.Join(dir, "generated.proto"))
	if os.IsNotExist(err) {
		return map[string]protoMessage{}, nil
	}
	if err != nil {
		return nil, err
	}
	messages := map[string]protoMessage{}
	var current protoMessage
	for _, line := range strings.Split(string(text), "\n") {
		if found := messageLine.FindStringSubmatch(line); found != nil {
			current = protoMessage{}
			messages[found[1]] = current
		} else if found := fieldLine.FindStringSubmatch(line); found != nil {
			number, _ := strconv.Atoi(found[4])
			current[number] = protoField{name: found[3], number: number, kind: found[2], repeated: found[1] == "repeated"}
		} else if found := mapLine.FindStringSubmatch(line); found != nil {
			number, _ := strconv.Atoi(found[4])
			current[number] = protoField{name: found[3], number: number, kind: found[2], mapped: true}
		}
	}
	return messages, nil
}
