#include "CDialects.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const char json[] = {
#embed "../../Attache/Dialects/dialects.json"
};

const char *dialects_json(size_t *length) {
  *length = sizeof json;
  return json;
}
