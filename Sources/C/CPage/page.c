#include "CPage.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const char template_text[] = {
#embed "../../ToolsCommand/Preview/Page/page.mustache"
};

static const char style_text[] = {
#embed "../../ToolsCommand/Preview/Page/page.css"
};

static const char script_text[] = {
#embed "../../ToolsCommand/Preview/Page/page.js"
};

const char *page_template(size_t *length) {
  *length = sizeof template_text;
  return template_text;
}

const char *page_style(size_t *length) {
  *length = sizeof style_text;
  return style_text;
}

const char *page_script(size_t *length) {
  *length = sizeof script_text;
  return script_text;
}
