import Glibc

/// How the tests and the tool were built.
enum Build {
  /// Whether the address or thread sanitizer is active, which changes memory figures.
  static let isSanitized: Bool = unsafe dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
}
