#pragma once

#include <stdbool.h>

#include "CMisbehaviour.h"

/// Crashes, hangs or tries to escape.
///
/// - Returns: false when the misbehaviour is another one.
bool misbehave(misbehaviour misbehaviour);
