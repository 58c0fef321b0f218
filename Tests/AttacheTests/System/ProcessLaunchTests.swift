import Foundation
import Testing

@testable import Attache

@Suite struct ProcessLaunchTests {
  @Test func `a variable replaces the inherited one of its name, and no other`() throws {
    let inherited = ProcessInfo.processInfo.environment
    let path = try #require(inherited["PATH"]) + ":/nowhere"
    var launch = ProcessLaunch(["env"])
    launch.inheritsEnvironment = true
    launch.environment = ["PATH": path, "PAT": "short"]
    launch.input = .closed
    launch.errors = .closed
    launch.pipesBlock = true
    let (process, pipes) = try launch.start()
    let output = try FileHandle(fileDescriptor: pipes.output, closeOnDealloc: true).readToEnd()
    #expect(process.wait() == .status(0))
    let lines = String(decoding: try #require(output), as: UTF8.self).split(separator: "\n")
    #expect(lines.filter { $0.hasPrefix("PATH=") } == ["PATH=\(path)"[...]])
    #expect(lines.filter { $0.hasPrefix("PAT=") } == ["PAT=short"])
  }
}
