import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;

/**
 * Prints Apache Kafka's names for error codes and API keys, one a line:
 *
 *     error 3 UNKNOWN_TOPIC_OR_PARTITION retriable
 *     api 0 PRODUCE
 */
public class DumpProtocol {
    public static void main(String[] arguments) {
        for (Errors error : Errors.values()) {
            boolean retriable = error.exception() instanceof RetriableException;
            System.out.println("error " + error.code() + " " + error.name()
                + (retriable ? " retriable" : " final"));
        }
        for (ApiKeys api : ApiKeys.values()) {
            System.out.println("api " + api.id + " " + api.name());
        }
    }
}
