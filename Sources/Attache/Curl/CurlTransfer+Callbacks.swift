internal import CCurl
internal import Glibc

/// What libcurl calls during an exchange.
extension CurlTransfer {
  private static func transfer(_ pointer: UnsafeMutableRawPointer?) -> CurlTransfer? {
    unsafe pointer.map { unsafe Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
  }

  static let receivedHeader: @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int = {
    bytes, size, count, me in
    guard let transfer = unsafe transfer(me) else { return 0 }
    let wasComplete = transfer.head.isComplete
    guard unsafe transfer.head.add(UnsafeRawBufferPointer(start: bytes, count: size * count)) else {
      transfer.fault = .httpHeaders
      return 0
    }
    guard transfer.head.isComplete, !wasComplete else { return size * count }
    if transfer.head.isChunked { transfer.chunks = ChunkedBody() }
    if transfer.head.hasTwoFramings { unsafe curl_easy_setopt_long(transfer.easy.handle, CURLOPT_FORBID_REUSE, 1) }
    return transfer.owner?.transferReceivedHead(transfer.head) == true ? size * count : 0
  }

  static let receivedBody: @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int = {
    bytes, size, count, me in
    guard let transfer = unsafe transfer(me) else { return 0 }
    switch unsafe transfer.hand(on: UnsafeRawBufferPointer(start: bytes, count: size * count)) {
    case .take: return size * count
    case .pause: return Int(CURL_WRITEFUNC_PAUSE)
    case .stop: return 0
    }
  }

  /// Passes a piece to the owner; of a chunked body, only the body bytes. libcurl offers a paused
  /// piece again.
  private func hand(on bytes: UnsafeRawBufferPointer) -> BodyVerdict {
    guard let owner else { return .stop }
    guard var chunks else { return unsafe owner.transferReceivedBody(bytes) }
    var head = head
    do throws(ChunkedBody.Mistake) {
      let body = try unsafe chunks.read(Array(bytes)[...], of: &head)
      let verdict = body.isEmpty ? .take : unsafe body.withUnsafeBytes { unsafe owner.transferReceivedBody($0) }
      guard verdict == .take else { return verdict }
    } catch {
      fault = error.reason
      return .stop
    }
    (self.chunks, self.head) = (chunks, head)
    // Bytes after the end would precede the next response.
    if chunks.hasSurplus { unsafe curl_easy_setopt_long(easy.handle, CURLOPT_FORBID_REUSE, 1) }
    return .take
  }

  /// Asks the gate about the socket's address. A refused address gets no socket.
  static let openSocket: @convention(c) (UnsafeMutableRawPointer?, curlsocktype, UnsafeMutablePointer<curl_sockaddr>?) -> curl_socket_t = {
    me, _, target in
    guard let transfer = unsafe transfer(me), let target = unsafe target else { return CURL_SOCKET_BAD }
    let length = Int(unsafe target.pointee.addrlen)
    let address = unsafe withUnsafePointer(to: &target.pointee.addr) { unsafe IPAddress(socketAddress: $0, length: length) }
    let port = unsafe withUnsafePointer(to: &target.pointee.addr) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { UInt16(bigEndian: unsafe $0.pointee.sin_port) }
    }
    guard transfer.passes(address, port: Int32(port)) else { return CURL_SOCKET_BAD }
    let descriptor = unsafe CurlEasy.socket(to: target)
    guard descriptor >= 0 else {
      transfer.socketError = errno
      return CURL_SOCKET_BAD
    }
    var timeLimit = CurlTransfer.silenceTimeLimit
    _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &timeLimit, socklen_t(MemoryLayout<UInt32>.size))
    transfer.opened.append(descriptor)
    return descriptor
  }

  static let closeSocket: @convention(c) (UnsafeMutableRawPointer?, curl_socket_t) -> Int32 = { connections, socket in
    if let connections = unsafe connections {
      unsafe Unmanaged<CurlConnections>.fromOpaque(connections).takeUnretainedValue().forget(socket)
    }
    return close(socket)
  }

  /// Asks the gate again about the connection that the request is about to use. A reused connection
  /// must also have no unread bytes.
  static let aboutToRequest:
    @convention(c) (
      UnsafeMutableRawPointer?, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?, Int32, Int32
    ) -> Int32 = { me, address, _, port, localPort in
      guard let transfer = unsafe transfer(me), let address = unsafe address else { return CURL_PREREQFUNC_ABORT }
      guard let address = IPAddress(unsafe String(cString: address)), transfer.passes(address, port: port),
        transfer.mayAsk(over: CurlConnections.Ends(address: address, port: port, localPort: localPort))
      else { return CURL_PREREQFUNC_ABORT }
      return CURL_PREREQFUNC_OK
    }

  /// Whether the body ended with its connection, and nothing confirms that it is complete. Over
  /// TLS, a close_notify confirms it. Over HTTP/2, a connection that stays open does: after a frame
  /// that breaks the rules, libcurl 7.88.1 reports a partial body as a whole one. A connection that
  /// ends after a GOAWAY looks the same; a retry over HTTP/1.1 decides.
  var isCutOff: Bool {
    guard isSecure, [200, 206].contains(head.status), head.contentLengths.isEmpty, chunks == nil else { return false }
    return speaksHTTP2 ? !(ends.map(connections.isOpen) ?? false) : !(session.map(connections.takeClose) ?? false)
  }

  /// Returns whether the connection may carry the request: a new one, an HTTP/2 connection (which
  /// frames its responses and is shared), or one without unread bytes.
  private func mayAsk(over ends: CurlConnections.Ends) -> Bool {
    let session = unsafe isSecure ? curl_easy_tls_session(easy.handle) : nil
    speaksHTTP2 = unsafe session.map { unsafe OpenSSL.speaksHTTP2($0) } ?? false
    (self.ends, self.session) = unsafe (ends, session.map { UInt(bitPattern: $0) })
    // An existing record belongs to an earlier session at the same address.
    if let session = self.session { _ = connections.takeClose(of: session) }
    if easy.number(CURLINFO_NUM_CONNECTS) > 0 {
      connections.add(ends, among: opened)
    } else if !speaksHTTP2 {
      // OpenSSL may hold the rest of a record. Without its session, the state of a secure
      // connection is unknown.
      let holdsRecord = unsafe isSecure && (session.map { unsafe OpenSSL.holdsBytes($0) } ?? true)
      metSurplus = holdsRecord || connections.holdsSurplus(ends)
    }
    return !metSurplus
  }

  /// Returns whether a connection may go to this address: one that the gate allows, or, with a
  /// proxy, the proxy only.
  private func passes(_ address: IPAddress?, port: Int32) -> Bool {
    guard let address, let request else { return false }
    do throws(Refusal) {
      if let proxy = request.proxy {
        guard request.addresses.contains(address), port == proxy.port else {
          throw Refusal(.connectProxy, "the connection does not lead to the proxy")
        }
      } else {
        try gate.check(address, for: request.url)
      }
      return true
    } catch {
      refusal = error
      return false
    }
  }
}

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
