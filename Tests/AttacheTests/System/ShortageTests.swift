import Glibc
import Testing

@testable import Attache

@Suite struct ShortageTests {
  @Test func `a lack of memory is this machine's failure, and a header line without an end is the origin's`() {
    #expect(CurlEnd.isOutOfMemory(isSent: false, isHeadComplete: false, lack: nil))
    #expect(CurlEnd.isOutOfMemory(isSent: true, isHeadComplete: true, lack: nil))
    #expect(CurlEnd.isOutOfMemory(isSent: true, isHeadComplete: false, lack: .memory))
    #expect(!CurlEnd.isOutOfMemory(isSent: true, isHeadComplete: false, lack: nil))
    let failure = FetchFailure(
      .internal, of: TransferEnd(failure: .internal, localError: ENOMEM, times: TransferTimes(), retryAfter: nil), host: "cdn.example")
    #expect(failure.isOfMachine)
    #expect(failure.message.hasPrefix("this machine could not fetch the file: malloc: Cannot allocate memory; free memory"))
  }

  @Test func `a program that cannot be started for lack of a process names the limit, and a missing one names itself`() {
    #expect(SystemError(call: "posix_spawn", number: EAGAIN).description.contains("raise the limit on processes (ulimit -u)"))
    #expect(throws: SystemError(call: "/nowhere/program", number: ENOENT)) { _ = try ProcessLaunch(["/nowhere/program"]).start() }
  }

  @Test func `a library that finds no memory or no descriptor is not missing`() {
    #expect(ConverterLibrary.shortage(in: "libicudata.so.72: failed to map segment from shared object") == .memory)
    #expect(ConverterLibrary.shortage(in: "libvips.so.42: cannot open shared object file: Too many open files") == .descriptors)
    #expect(ConverterLibrary.shortage(in: "libvips.so.42: cannot open shared object file: No such file or directory") == nil)
    #expect(ConverterLibrary.shortage(in: "libz.so.1: cannot map zero-fill pages") == .memory)
    #expect(ConverterLibrary.shortage(in: "libz.so.1: cannot change memory protections") == .memory)
    #expect(ConverterLibrary.shortage(in: "libgomp.so.1: cannot allocate memory in static TLS block") == nil)
    #expect(ConverterLibrary.message("libvips.so.42: cannot open shared object file: No such file or directory").contains("; install it"))
    #expect(!ConverterLibrary.message("libz.so.1: cannot map zero-fill pages").contains("install it"))
  }
}
