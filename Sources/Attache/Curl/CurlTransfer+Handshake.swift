internal import CCurl

/// The TLS settings of a connection beyond libcurl's own options.
extension CurlTransfer {
  /// Makes every handshake use the fetcher's roots and require the URL's host. Every connection
  /// reports its peer's close_notify.
  static let aboutToShakeHands: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> CURLcode =
    { _, context, me in
      guard let me = unsafe me, let context = unsafe context,
        case let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(me).takeUnretainedValue(), let url = transfer.request?.url,
        unsafe OpenSSL.demand(url, of: context), unsafe OpenSSL.notify(transfer.connections, ofClosesIn: context)
      else { return CURLE_SSL_CERTPROBLEM }
      unsafe OpenSSL.noteFaults(in: context)
      // An existing record belongs to an earlier connection at the same address.
      _ = transfer.connections.takeFault(in: UInt(bitPattern: context))
      transfer.handshake = UInt(bitPattern: context)
      guard let roots = transfer.roots else { return CURLE_OK }
      return unsafe roots.use(in: context) ? CURLE_OK : CURLE_SSL_CACERT_BADFILE
    }
}
