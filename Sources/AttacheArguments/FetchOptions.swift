public import ArgumentParser
public import Attache

/// What may be fetched, and how.
package struct FetchOptions: ParsableArguments {
  @Flag(help: "Fetch plain http too; it is refused otherwise, as App Transport Security does.")
  package var allowHttp = false

  @Option(
    help: ArgumentHelp("A network to reach although it is not public, on any port, as 127.0.0.0/8. Repeatable.", valueName: "cidr"),
    transform: { try CIDR($0) })
  package var allowNet: [CIDR] = []

  @Option(help: ArgumentHelp("Further ports beside 80 and 443, as 8443 or 8000-8100. Repeatable.", valueName: "ports"))
  package var allowPort: [PortsArgument] = []

  @Option(
    help: ArgumentHelp("Reach only hosts that match, as cdn.example.com or *.example.com. Repeatable.", valueName: "pattern"),
    transform: { try HostPattern($0) })
  package var allowHost: [HostPattern] = []

  @Option(
    help: ArgumentHelp("Never reach hosts that match; wins over --allow-host. Repeatable.", valueName: "pattern"),
    transform: { try HostPattern($0) })
  package var denyHost: [HostPattern] = []

  @Option(
    help: ArgumentHelp("A file of root certificates (PEM) instead of the system's.", valueName: "file"),
    transform: { path in
      try RootCertificates.check(path)
      return path
    })
  package var cacert: String?

  @Option(help: ArgumentHelp("A name server instead of those of resolv.conf, as 127.0.0.1:5353. Repeatable.", valueName: "address:port"))
  package var dnsServer: [NameServerArgument] = []

  @Option(
    help: ArgumentHelp(
      "Fetch everything through an HTTP proxy, as http://egress.example:3128; it looks names up, so that their addresses are not checked here.",
      valueName: "url"),
    transform: { try Proxy($0) })
  package var proxy: Proxy?

  @Option(
    help: ArgumentHelp("The largest file of each kind, as image=10MB,audio=5MB,video=50MB (Apple's figures).", valueName: "list"))
  package var limits = LimitsArgument()

  @Option(help: ArgumentHelp("The most pixels of a picture, width times height.", valueName: "n"))
  package var maxPixels = MediaLimits().pixels

  @Option(help: ArgumentHelp("Further tries of a transient failure, inside the budget.", valueName: "n"))
  package var retries: UInt8 = 2

  @Option(
    help: ArgumentHelp(
      "Transfers to one origin at a time. After 500 ms without a byte one no longer counts; up to 4 times n may wait so.", valueName: "n"))
  package var perHost = 16

  @Option(help: ArgumentHelp("Processes that fetch, --per-host at most. (default: one for each processor)", valueName: "n"))
  package var fetchers: Int?

  @Option(
    help: ArgumentHelp(
      "What is remembered: http (as RFC 9111 says, over restarts), session (a URL is fetched once in a run) or off.", valueName: "mode"))
  package var cache = MediaFetcher.CacheMode.http

  package init() {}

  package func validate() throws {
    try CountArgument.check(perHost, "--per-host")
    if let fetchers { try CountArgument.check(fetchers, "--fetchers", in: 1...MediaFetcher.maximumFetchers) }
    try CountArgument.check(maxPixels, "--max-pixels", in: 1...Int.max)
  }

  /// What the flags give up, for the log at the start.
  package var notice: String? {
    proxy.map { proxy in
      "everything goes through \(proxy.text), which looks names up: their addresses are not checked here; URLs, hosts, ports and literal addresses are"
    }
  }

  package var configuration: MediaFetcher.Configuration {
    var configuration = MediaFetcher.Configuration()
    configuration.policy = URLPolicy(
      allowHTTP: allowHttp, allowedNets: allowNet, allowedPorts: allowPort.map(\.ports), allowedHosts: allowHost, deniedHosts: denyHost,
      proxy: proxy)
    configuration.limits = limits.limits
    configuration.limits.pixels = maxPixels
    configuration.retries = Int(retries)
    configuration.transfersPerOrigin = perHost
    configuration.fetchers = fetchers
    configuration.cache = cache
    configuration.rootCertificates = cacert
    configuration.nameServers = dnsServer.map(\.text)
    return configuration
  }
}

extension MediaFetcher.CacheMode: ExpressibleByArgument {}
