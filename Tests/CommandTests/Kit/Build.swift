import Glibc

/// How the tests, and with them the tool, were built.
enum Build {
  /// Whether the address or thread sanitizer is in: memory is another then.
  static let isSanitized: Bool = unsafe dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
}
