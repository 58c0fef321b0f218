import AttacheTesting
import Foundation
import Testing

/// What runs of the filter leave to a process that takes over orphans and never waits for them, as
/// process 1 of many containers.
@Suite(.timeLimit(.minutes(1)))
struct OrphanTests {
  /// Runs a command as often as asked for, and prints the children that it has left, one a line.
  /// With 0, runs it once, kills it at its first line, and waits until what it has left has ended.
  private static let careless = """
    import ctypes, os, signal, subprocess, sys
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    count, payloads, words = int(sys.argv[1]), sys.argv[2].encode(), sys.argv[3:]
    for _ in range(count): subprocess.run(words, input=payloads, stdout=subprocess.DEVNULL, check=True)
    if count == 0:
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdin.write(payloads); process.stdin.flush(); process.stdout.readline()
        process.send_signal(signal.SIGKILL); process.wait()
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
    for number in filter(str.isdigit, os.listdir("/proc")):
        try: stat = open(f"/proc/{number}/stat").read()
        except OSError: continue
        if int(stat[stat.rindex(")") + 2:].split()[1]) == os.getpid(): print(stat[stat.index("(") + 1:stat.rindex(")")])
    """

  private func left(by count: Int) async throws -> Run {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      // Only the detector's process knows what this is.
      origin.serve("/b", Array("nothing that a signature names".utf8))
      let tool = try AttacheTool()
      let payloads = Sample.payload(origin.url("/a.png")) + "\n" + Sample.payload(origin.url("/b")) + "\n"
      let program = try Program(
        Launch(
          path: "/usr/bin/env",
          arguments: ["python3", "-c", Self.careless, "\(count)", payloads, AttacheTool.folder + "/attache"] + AttacheTool.loopback,
          environment: tool.environment.merging(["PATH": "/usr/local/bin:/usr/bin:/bin"]) { $1 }, folder: tool.home))
      program.input.close()
      return await program.finished()
    }
  }

  @Test func `twenty runs leave no zombie`() async throws {
    let run = try await left(by: 20)
    #expect(run.exit == .status(0), "\(run.errors)")
    #expect(run.text == "")
  }

  @Test func `a filter that is killed leaves the process that starts fetchers, which has waited for all others`() async throws {
    let run = try await left(by: 0)
    #expect(run.exit == .status(0), "\(run.errors)")
    #expect(run.text == "fetchers\n")
  }
}
