internal import COpenSSL

/// Passes texts to libcrypto and from it.
package enum OpenSSLText {
  /// Calls `body` with a `BIO` that has a text; returns nil if there is no memory for it.
  package static func read(_ text: String, _ body: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
    let bytes = Array(text.utf8)
    guard let count = CInt(exactly: bytes.count) else { return nil }
    return unsafe bytes.withUnsafeBytes { bytes in
      guard let bio = unsafe BIO_new_mem_buf(bytes.baseAddress, count) else { return nil }
      defer { unsafe BIO_free(bio) }
      return unsafe body(bio)
    }
  }

  /// Returns what `body` writes to a `BIO`; nil if it does not return 1.
  package static func write(_ body: (OpaquePointer) -> CInt) -> String? {
    guard let bio = unsafe BIO_new(BIO_s_mem()) else { return nil }
    defer { unsafe BIO_free(bio) }
    guard unsafe body(bio) == 1 else { return nil }
    var start: UnsafeMutablePointer<CChar>?
    let count = unsafe BIO_get_mem_data_shim(bio, &start)
    return unsafe String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
  }
}
