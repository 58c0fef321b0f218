#include <dlfcn.h>
#include <magic.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "misbehaviour.h"

static const char *(*magic_buffer_of_library)(magic_t, const void *, size_t);

// A confined child loads nothing.
__attribute__((constructor)) static void find_magic_buffer(void) { *(void **)&magic_buffer_of_library = dlsym(RTLD_NEXT, "magic_buffer"); }

// In the executable of the tests, the detector's child calls this function instead of libmagic's.
const char *magic_buffer(magic_t cookie, const void *bytes, size_t count) {
  const size_t length = sizeof misbehaviour_mark - 1;
  if (count > length && memcmp(bytes, misbehaviour_mark, length) == 0) {
    misbehaviour kind = (misbehaviour)((const unsigned char *)bytes)[length];
    // The detector's answer: a serial, whether the child is confined, and a name.
    struct {
      uint32_t serial, is_confined;
      char name[128];
    } answer = {.serial = UINT32_MAX, .name = "image/png"};
    size_t sent = kind == misbehaviour_other_answer ? sizeof answer : kind == misbehaviour_garbage ? 1 : 0;
    if (!misbehave(kind) && sent > 0 && write(child_socket, &answer, sent) < 0) _exit(1);
  }
  return magic_buffer_of_library(cookie, bytes, count);
}
