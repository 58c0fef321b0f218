public import ArgumentParser
public import Attache

/// The flags that decide what may be fetched, and how.
package struct FetchOptions: ParsableArguments {
  @Flag(help: "Allow plain http, which is refused by default, as App Transport Security does.")
  package var allowHttp = false

  @Option(
    help: ArgumentHelp("Allow a network that is not public, on any port, such as 127.0.0.0/8. Repeatable.", valueName: "cidr"),
    transform: { try CIDR($0) })
  package var allowNet: [CIDR] = []

  @Option(help: ArgumentHelp("Allow further ports beside 80 and 443, such as 8443 or 8000-8100. Repeatable.", valueName: "ports"))
  package var allowPort: [PortsArgument] = []

  @Option(
    help: ArgumentHelp("Allow only hosts that match, such as cdn.example.com or *.example.com. Repeatable.", valueName: "pattern"),
    transform: { try HostPattern($0) })
  package var allowHost: [HostPattern] = []

  @Option(
    help: ArgumentHelp("Refuse hosts that match. It takes precedence over --allow-host. Repeatable.", valueName: "pattern"),
    transform: { try HostPattern($0) })
  package var denyHost: [HostPattern] = []

  @Option(
    help: ArgumentHelp("A file of root certificates (PEM) instead of the system's.", valueName: "file"),
    transform: { path in
      try RootCertificates.check(path)
      return path
    })
  package var cacert: String?

  @Option(
    help: ArgumentHelp(
      "The User-Agent of each request, such as 'push.example (media@push.example)'. Some origins want a contact in it. (default: attache)",
      valueName: "text"),
    transform: { try RequestField.userAgent($0) })
  package var userAgent: String?

  @Option(
    help: ArgumentHelp(
      "A file of header fields by origin, in lines such as 'https://cdn.example: Authorization: Bearer …', that only its owner may read. Other origins never get them, also not by a redirect.",
      valueName: "file"))
  package var headerFile: String?

  @Option(
    help: ArgumentHelp(
      "A name server to use instead of those in resolv.conf, such as 127.0.0.1:5353. Repeatable.", valueName: "address:port"))
  package var dnsServer: [NameServerArgument] = []

  @Option(
    help: ArgumentHelp(
      "Fetch through an HTTP proxy, such as http://egress.example:3128. The proxy resolves names, so attache does not check their addresses.",
      valueName: "url"),
    transform: { try Proxy($0) })
  package var proxy: Proxy?

  @Option(
    help: ArgumentHelp("The size limit for each kind of file, such as image=10MB,audio=5MB,video=50MB (Apple's limits).", valueName: "list")
  )
  package var limits = LimitsArgument()

  @Option(help: ArgumentHelp("The limit for the pixels of a picture, width times height.", valueName: "n"))
  package var maxPixels = MediaLimits().pixels

  @Flag(
    help: ArgumentHelp(
      "Convert pictures that Apple does not accept (WebP, HEIC, AVIF, TIFF) to JPEG, PNG or GIF, and shrink those beyond a limit. Needs libvips."
    ))
  package var convert = false

  @Option(help: ArgumentHelp("With --convert: the longest side of a picture, in pixels. (default: 2048)", valueName: "n"))
  package var maxSide: Int?

  @Option(help: ArgumentHelp("With --convert: the size limit for a picture before its conversion. (default: 50MB)", valueName: "size"))
  package var sourceLimits: ByteCountArgument?

  @Option(
    help: ArgumentHelp(
      "With --convert: the limit for the pixels of a picture before its conversion, all frames together. (default: 150000000)",
      valueName: "n"))
  package var maxSourcePixels: Int?

  @Option(help: ArgumentHelp("How often to retry a transient failure within the deadline.", valueName: "n"))
  package var retries: UInt8 = 2

  @Option(
    help: ArgumentHelp(
      "Concurrent transfers to one origin. A transfer that receives nothing for 500 ms no longer counts; up to 4 times n transfers may stall like this.",
      valueName: "n"))
  package var perHost = 16

  @Option(help: ArgumentHelp("The number of fetcher processes, at most --per-host. (default: one for each processor)", valueName: "n"))
  package var fetchers: Int?

  @Option(
    help: ArgumentHelp(
      "What to cache: http (by RFC 9111, across restarts), session (fetch each URL once in a run), or off.", valueName: "mode"))
  package var cache = FetchConfiguration.CacheMode.http

  package init() {}

  package func validate() throws {
    guard Validation.isOn else { return }
    try CountArgument.check(perHost, "--per-host")
    if let fetchers { try CountArgument.check(fetchers, "--fetchers", in: 1...FetchConfiguration.maximumFetchers) }
    try CountArgument.check(maxPixels, "--max-pixels", in: 1...Int.max)
    if let maxSide { try CountArgument.check(maxSide, "--max-side", in: 1...Conversion.largestSide) }
    if let maxSourcePixels { try CountArgument.check(maxSourcePixels, "--max-source-pixels", in: 1...Int.max) }
    if !convert {
      try Validation.checkCompanions(
        of: "--convert", ("--max-side", maxSide != nil), ("--source-limits", sourceLimits != nil),
        ("--max-source-pixels", maxSourcePixels != nil))
    }
  }

  /// A message for the log at the start about the checks that a proxy makes impossible; nil without
  /// a proxy.
  package var notice: String? {
    proxy.map { proxy in
      "everything goes through \(proxy.text), which resolves names: attache does not check their addresses, but it checks URLs, hosts, ports and literal addresses"
    }
  }

  private var conversion: Conversion {
    var conversion = Conversion()
    if let maxSide { conversion.maximumSide = maxSide }
    if let sourceLimits { conversion.sourceBytes = Int(clamping: sourceLimits.bytes) }
    if let maxSourcePixels { conversion.sourcePixels = maxSourcePixels }
    return conversion
  }

  package var configuration: FetchConfiguration {
    var configuration = FetchConfiguration()
    configuration.policy = URLPolicy(
      allowHTTP: allowHttp, allowedNets: allowNet, allowedPorts: allowPort.map(\.ports), allowedHosts: allowHost, deniedHosts: denyHost,
      proxy: proxy)
    configuration.limits = limits.limits
    configuration.limits.pixels = maxPixels
    configuration.steps = convert ? [.convert(conversion)] : []
    if let userAgent { configuration.userAgent = userAgent }
    configuration.retries = Int(retries)
    configuration.transfersPerOrigin = perHost
    configuration.fetchers = fetchers
    configuration.cache = cache
    configuration.rootCertificates = cacert
    configuration.nameServers = dnsServer.map(\.text)
    return configuration
  }
}

extension FetchConfiguration.CacheMode: ExpressibleByArgument {}
