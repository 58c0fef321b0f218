/// The environment of a fetcher: a machine, and the resolver and transport of each loop.
package struct FetchNetwork {
  package var machine: any Machine
  package var transport: (EventLoop) throws(StartError) -> any Transport
  package var resolver: (EventLoop) throws(StartError) -> any Resolver
  /// Starts the child of a converter. Tests start children that misbehave.
  var startConverter: HelperProcess.Start = ConverterProcess.start

  package init(
    machine: any Machine, transport: @escaping (EventLoop) throws(StartError) -> any Transport,
    resolver: @escaping (EventLoop) throws(StartError) -> any Resolver
  ) {
    self.machine = machine
    self.transport = transport
    self.resolver = resolver
  }

  /// Returns the system's network: libcurl and c-ares, as configured.
  package static func real(_ configuration: FetchConfiguration) -> FetchNetwork {
    real(configuration, roots: CurlRoots(configuration.rootCertificates), engines: configuration.fetcherCount(on: SystemMachine()))
  }

  /// - Parameters:
  ///   - engines: the number of engines in this process.
  ///   - beforeLookup: called before the resolver reads the system's files for a name.
  static func real(
    _ configuration: FetchConfiguration, roots: CurlRoots?, engines: Int, beforeLookup: @escaping () -> Void = {}
  ) -> FetchNetwork {
    let machine = SystemMachine()
    return FetchNetwork(machine: machine) { loop throws(StartError) in
      do {
        let gate = URLGate(configuration.policy).addressGate
        return try CurlTransport(
          loop: loop, gate: gate, roots: roots, transfersPerOrigin: configuration.transfersPerOrigin,
          engines: engines)
      } catch {
        throw StartError("\(error)")
      }
    } resolver: { loop throws(StartError) in
      do {
        return try AresResolver(loop: loop, servers: configuration.nameServers, beforeLookup: beforeLookup)
      } catch {
        throw StartError("\(error)")
      }
    }
  }
}
