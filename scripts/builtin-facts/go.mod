module builtinfacts

go 1.24
