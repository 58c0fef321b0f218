internal import Glibc

/// The rules for the network that an extension's own requests follow.
package struct ExtensionNetwork: Sendable {
  /// Whether plain http may be used.
  package var allowsHTTP = false
  /// Whether only public addresses may be reached.
  package var isPublicOnly = true
  /// Whether only this machine's own addresses may be reached.
  package var isLoopbackOnly = false
  /// Whether App Transport Security refuses plain http, with the exceptions of the bundle's `Info.plist`.
  package var hasTransportSecurity = false
  /// The factor for the time-outs of URLSession.
  package var timeScale = 1.0
  /// The networks that may be reached although they are not public.
  package var allowedNets: [CIDR] = []
  /// The ports that may be reached at public addresses, beside 80 and 443.
  package var allowedPorts: [ClosedRange<UInt16>] = []
  /// The only hosts that may be reached; empty for every host.
  package var allowedHosts: [HostPattern] = []
  /// The hosts that may not be reached.
  package var deniedHosts: [HostPattern] = []
  /// The file with the root certificates; nil for the system's.
  package var rootCertificates: String?
  /// Where all hosts are reached, as libcurl's `CURLOPT_CONNECT_TO`; nil for themselves.
  package var connectTo: String?

  package init() {}

  /// The rules for attache's own downloads, apart from the proxy.
  package init(_ policy: URLPolicy, rootCertificates: String? = nil) {
    allowsHTTP = policy.allowHTTP
    (allowedNets, allowedPorts) = (policy.allowedNets, policy.allowedPorts)
    (allowedHosts, deniedHosts) = (policy.allowedHosts, policy.deniedHosts)
    self.rootCertificates = rootCertificates
  }

  /// The rules as the process reads them.
  var json: [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.key("schemes")
    json.string(UntrustedText(allowsHTTP ? "https,http" : "https"))
    for (key, isSet) in [("publicOnly", isPublicOnly), ("loopbackOnly", isLoopbackOnly), ("transportSecurity", hasTransportSecurity)] {
      json.key(key)
      json.boolean(isSet)
    }
    json.key("timeScale")
    json.double(timeScale)
    for (key, texts) in [
      ("nets", allowedNets.map(\.description)), ("allowHosts", allowedHosts.map(\.description)),
      ("denyHosts", deniedHosts.map(\.description)),
    ] {
      json.key(key)
      json.beginArray()
      for text in texts { json.string(UntrustedText(text)) }
      json.endArray()
    }
    json.key("ports")
    json.beginArray()
    for ports in [80...80, 443...443] + allowedPorts {
      json.beginArray()
      json.integer(Int(ports.lowerBound))
      json.integer(Int(ports.upperBound))
      json.endArray()
    }
    json.endArray()
    for (key, value) in [("roots", rootCertificates), ("connectTo", connectTo)] {
      guard let value else { continue }
      json.key(key)
      json.string(UntrustedText(value))
    }
    json.endObject()
    return json.bytes
  }
}
