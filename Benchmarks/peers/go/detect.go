package main

// #cgo LDFLAGS: -lmagic
// #include <magic.h>
import "C"

import (
	"log"
	"runtime"
	"unsafe"
)

// A cookie of libmagic serves one call at a time: there is one for each processor.
var cookies = opened()

func opened() chan C.magic_t {
	all := make(chan C.magic_t, runtime.GOMAXPROCS(0))
	for i := 0; i < cap(all); i++ {
		cookie := C.magic_open(C.MAGIC_MIME_TYPE)
		if cookie == nil || C.magic_load(cookie, nil) != 0 {
			log.Fatal("libmagic has no database")
		}
		all <- cookie
	}
	return all
}

func detect(head []byte) string {
	cookie := <-cookies
	defer func() { cookies <- cookie }()
	if kind := C.magic_buffer(cookie, unsafe.Pointer(&head[0]), C.size_t(len(head))); kind != nil {
		return C.GoString(kind)
	}
	return "application/octet-stream"
}
