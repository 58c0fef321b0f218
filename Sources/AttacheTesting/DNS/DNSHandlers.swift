internal import NIOCore

/// Passes each datagram to the script.
final class DNSDatagramHandler: ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>
  typealias OutboundOut = AddressedEnvelope<ByteBuffer>

  private let script: DNSScript

  init(script: DNSScript) {
    self.script = script
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let envelope = unwrapInboundIn(data)
    let channel = context.channel
    let bytes = Array(envelope.data.readableBytesView)
    script.receive(bytes, from: envelope.remoteAddress, overTCP: false, on: context.eventLoop) { bytes in
      channel.writeAndFlush(AddressedEnvelope(remoteAddress: envelope.remoteAddress, data: ByteBuffer(bytes: bytes)), promise: nil)
    }
  }
}

/// Splits a connection into messages and passes them to the script. Each message follows its length
/// in two bytes (RFC 1035, 4.2.2).
final class DNSStreamHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let script: DNSScript
  private var received = ByteBuffer()

  init(script: DNSScript) {
    self.script = script
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received.writeImmutableBuffer(unwrapInboundIn(data))
    let channel = context.channel
    while let message = received.readLengthPrefixedSlice(as: UInt16.self) {
      let bytes = Array(message.readableBytesView)
      script.receive(bytes, from: context.remoteAddress, overTCP: true, on: context.eventLoop) { bytes in
        var framed = ByteBuffer(integer: UInt16(bytes.count))
        framed.writeBytes(bytes)
        channel.writeAndFlush(framed, promise: nil)
      }
    }
  }
}
