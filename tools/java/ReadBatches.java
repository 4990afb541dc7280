import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.utils.Utils;

import com.fasterxml.jackson.databind.ObjectMapper;

/**
 * Reads record batches from standard input with the parser of Kafka's Java clients, checks them,
 * and prints them as a JSON array, with bytes in base64.
 */
public class ReadBatches {
    public static void main(String[] arguments) throws Exception {
        ByteBuffer input = ByteBuffer.wrap(System.in.readAllBytes());
        MemoryRecords records = MemoryRecords.readableRecords(input);
        if (records.validBytes() != input.limit()) {
            throw new IllegalArgumentException(
                "whole batches end at " + records.validBytes() + " of " + input.limit());
        }
        List<Object> batches = new ArrayList<>();
        for (MutableRecordBatch batch : records.batches()) {
            batch.ensureValid();
            batches.add(describe(batch));
        }
        System.out.println(new ObjectMapper().writeValueAsString(batches));
    }

    private static Map<String, Object> describe(MutableRecordBatch batch) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("base_offset", batch.baseOffset());
        fields.put("last_offset", batch.lastOffset());
        fields.put("leader_epoch", batch.partitionLeaderEpoch());
        fields.put("compression", batch.compressionType().name);
        fields.put("log_append_time", batch.timestampType() == TimestampType.LOG_APPEND_TIME);
        fields.put("max_timestamp_ms", batch.maxTimestamp());
        fields.put("delete_horizon_ms",
            batch.deleteHorizonMs().isPresent() ? batch.deleteHorizonMs().getAsLong() : null);
        fields.put("producer_id", batch.producerId());
        fields.put("producer_epoch", batch.producerEpoch());
        fields.put("base_sequence", batch.baseSequence());
        fields.put("last_sequence", batch.lastSequence());
        fields.put("transactional", batch.isTransactional());
        fields.put("control", batch.isControlBatch());
        List<Object> records = new ArrayList<>();
        for (Record record : batch) {
            records.add(describe(batch, record));
        }
        fields.put("records", records);
        return fields;
    }

    private static Map<String, Object> describe(MutableRecordBatch batch, Record record) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("offset", record.offset());
        fields.put("timestamp_ms", record.timestamp());
        fields.put("key", Utils.toNullableArray(record.key()));
        fields.put("value", Utils.toNullableArray(record.value()));
        List<Object> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            List<Object> pair = new ArrayList<>();
            pair.add(header.key());
            pair.add(header.value());
            headers.add(pair);
        }
        fields.put("headers", headers);
        if (batch.isControlBatch()) {
            ControlRecordType type = ControlRecordType.parse(record.key());
            fields.put("control_type", type.name());
            if (type == ControlRecordType.COMMIT || type == ControlRecordType.ABORT) {
                fields.put("coordinator_epoch",
                    EndTransactionMarker.deserialize(record).coordinatorEpoch());
            }
        }
        return fields;
    }
}
