internal import CChild
internal import CConverter
internal import Glibc

/// A child process in which libvips converts one picture after the other. If a picture crashes or
/// hangs it, only that picture gets no result.
///
/// The child holds its socket and a picture, and seccomp limits it to memory, time, threads and
/// those two. In a program with other threads this is safe as long as nothing else uses GLib: the C
/// library makes its allocator usable in the child, and libvips begins no thread before the fork.
final class ConverterProcess: HelperProcess {
  /// The address space that a child may map beside its parent's, in bytes.
  static let memory = 512 << 20

  enum Reply<Value> {
    case value(Value)
    case failed(FetchFailure)
  }

  /// Starts a child (``HelperProcess/Start``).
  static func start() throws(SystemError) -> (socket: Int32, child: pid_t) {
    var child: pid_t = 0
    let socket = try SystemError.check("fork", unsafe converter_start(UInt64(memory), &child))
    return (socket, child)
  }

  /// Gives the child a picture, without waiting for the result. Only one may be pending.
  ///
  /// - Parameters:
  ///   - input: a descriptor of the picture. It still belongs to the caller.
  ///   - time: the maximum processor time, and the maximum time.
  /// - Returns: false when the child has ended.
  func send(
    _ picture: SourcePicture, _ input: Int32, _ conversion: Conversion, _ limits: MediaLimits, within time: Duration
  ) -> Bool {
    let milliseconds = UInt32(clamping: max(1, Int64(time.milliseconds)))
    var job = converter_job()
    job.serial = nextSerial()
    job.format = picture.format.loader.rawValue
    job.bytes = UInt64(picture.file.size)
    job.source_pixels = UInt64(conversion.sourcePixels)
    job.result_pixels = UInt64(limits.pixels)
    job.result_bytes = UInt64(limits.image)
    job.result_side = UInt32(clamping: conversion.maximumSide)
    (job.cpu_ms, job.wait_ms) = (milliseconds, milliseconds)
    job.is_damaged = picture.damage == nil ? 0 : 1
    return unsafe child_send(socket, &job, MemoryLayout.size(ofValue: job), input) >= 0
  }

  /// Receives the answer, if there is one: the type and the size of the result, whose bytes follow.
  /// After a failure whose ``isOver`` is true, the child must not be asked again.
  func receive(_ conversion: Conversion, _ limits: MediaLimits) -> Reply<(type: MediaType, bytes: Int)>? {
    var answer = converter_answer()
    switch unsafe converter_receive(socket, serial, &answer) {
    case converter_received: break
    case converter_silent: return nil
    case converter_ended: return .failed(death())
    default: return .failed(confusion())
    }
    let message = unsafe withUnsafeBytes(of: &answer.message) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    switch converter_end(answer.end) {
    case converter_made:
      guard answer.bytes > 0, answer.bytes <= UInt64(limits.image) else { return .failed(confusion()) }
      let type: MediaType =
        switch converter_format(answer.format) {
        case converter_png: .png
        case converter_gif: .gif
        default: .jpeg
        }
      return .value((type, Int(answer.bytes)))
    case converter_too_many_pixels:
      return .failed(
        FetchFailure(
          reason: .sizePixels,
          message: "the picture has more than \(conversion.sourcePixels) pixels in all frames; shrink it or raise --max-source-pixels"))
    case converter_too_large:
      return .failed(
        FetchFailure(reason: .convertFailed, message: "no size of the picture has \(limits.image) bytes; \(Self.remedy(of: limits))"))
    default:
      return .failed(FetchFailure(reason: .convertFailed, message: "libvips cannot read the picture (\(message)); repair it at the origin"))
    }
  }

  private static func remedy(of limits: MediaLimits) -> String {
    limits.image < MediaLimits().image ? "raise --limits image=…, up to Apple's 10MB" : "shrink it at the origin"
  }

  /// Receives the next bytes of a result.
  ///
  /// - Parameter buffer: holds at least ``partBytes`` bytes.
  /// - Returns: how many there are; nil when there are none yet.
  func receivePart(_ buffer: UnsafeMutableRawBufferPointer) -> Reply<Int>? {
    guard let start = buffer.baseAddress else { return nil }
    var count = 0
    switch unsafe converter_receive_part(socket, start, &count) {
    case converter_received: return .value(count)
    case converter_silent: return nil
    case converter_ended: return .failed(death())
    default: return .failed(confusion())
    }
  }

  /// The maximum number of bytes that ``receivePart(_:)`` receives.
  static let partBytes = Int(converter_part_max)

  private func death() -> FetchFailure {
    let signal = stop()
    if signal == SIGPROF || signal == SIGALRM { return FetchFailure(reason: .convertDeadline) }
    if signal == SIGKILL {
      return FetchFailure(
        reason: .convertFailed,
        message:
          "the converter was killed (SIGKILL), not by the picture or attache: by the kernel if memory was short, as `dmesg` then says, "
          + "or by another process; free memory, or find out who kills it")
    }
    let how = signal > 0 ? unsafe strsignal(signal).map { unsafe String(cString: $0) } ?? "signal \(signal)" : "it ended"
    return FetchFailure(reason: .convertFailed, message: "the picture crashes its converter (\(how)); check what the URL serves")
  }

  /// Stops a child whose answer is not one.
  func confusion() -> FetchFailure {
    stop()
    return FetchFailure(reason: .convertFailed, message: "the converter gives an invalid result for the picture; check what the URL serves")
  }
}

extension PictureFormat {
  fileprivate var loader: converter_format {
    switch self {
    case .jpeg: converter_jpeg
    case .png: converter_png
    case .gif: converter_gif
    case .webp: converter_webp
    case .heic, .avif, .heif: converter_heif
    case .tiff: converter_tiff
    }
  }
}
