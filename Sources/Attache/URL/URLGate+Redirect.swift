extension URLGate {
  /// Checks the target of a redirect with the same gate, and refuses a change from https to http.
  ///
  /// - Parameters:
  ///   - location: the value of the Location field, absolute or relative, without the white space
  ///     around it.
  ///   - url: the URL whose response redirects.
  /// - Returns: the target, which may be fetched.
  /// - Throws: a refusal `policy.redirect` with the gate's message about the target; `http.status`
  ///   for an empty Location; `http.redirect` for a Location that is only a fragment, and so leads
  ///   back to the same URL.
  public func redirect(to location: some Collection<UInt8>, from url: CheckedURL) throws(Refusal) -> CheckedURL {
    guard let first = location.first else { throw Refusal(.httpStatus, "the redirect has an empty Location") }
    guard first != UInt8(ascii: "#") else { throw Refusal(.httpRedirect, "the redirect leads to its own URL") }
    do throws(Refusal) {
      let next = try check(Self.resolve(location, against: url)[...])
      if url.scheme == .https, next.scheme == .http { throw Refusal(.policyScheme, "it leads from https to http") }
      return next
    } catch {
      throw Refusal(.policyRedirect, "the redirect is refused: \(error.message)")
    }
  }

  private static func resolve(_ location: some Collection<UInt8>, against url: CheckedURL) throws(Refusal) -> [UInt8] {
    guard location.count <= maximumBytes else { throw tooLong }
    // Check this first: resolving a relative path could hide these bytes behind a checked host.
    if location.contains(where: { $0.isControlASCII || $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: " ") }) {
      throw Refusal(.policyURL, "the Location contains a control character, a backslash or a space")
    }
    let reference = URLReference(Array(location)[...])
    let firstSegment = reference.path.prefix { $0 != UInt8(ascii: "/") }
    if reference.scheme == nil, reference.authority == nil, firstSegment.contains(UInt8(ascii: ":")) {
      throw Refusal(.policyURL, "the Location has a colon in its first segment but no scheme (RFC 3986, 4.2)")
    }
    return reference.resolved(against: URLReference(Array(url.text.utf8)[...])).bytes
  }
}
