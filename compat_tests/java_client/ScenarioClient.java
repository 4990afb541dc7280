// Kafka's Java clients as a program of scenarios: one JSON object per line in, one per line out (see
// compat_tests/program.py). It is compiled against each version of the clients, so it uses only what
// all of them have.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.protocol.Errors;

public final class ScenarioClient {
    private static final ObjectMapper JSON = new ObjectMapper();

    private ScenarioClient() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err); // whoever logs must not answer
        BufferedReader questions =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Records records = new Records(arguments[0]);
        Transactions transactions = new Transactions(arguments[0]);
        try (Administration administration = new Administration(arguments[0])) {
            String line;
            while ((line = questions.readLine()) != null) {
                JsonNode question = JSON.readTree(line);
                Map<String, Object> answer = new LinkedHashMap<>();
                try {
                    answer.put("ok", answer(question, records, transactions, administration));
                } catch (Exception error) {
                    Throwable cause = error instanceof ExecutionException ? error.getCause() : error;
                    short code = Errors.forException(cause).code();
                    answer.put("error", cause.toString());
                    answer.put("code", code > 0 ? code : null);
                }
                answers.println(JSON.writeValueAsString(answer));
                answers.flush();
            }
        }
        transactions.close();
        System.exit(0);
    }

    private static Object answer(
        JsonNode question, Records records, Transactions transactions, Administration administration
    ) throws Exception {
        String verb = question.get("verb").asText();
        switch (verb) {
            case "produce":
                return records.produce(question);
            case "consume":
                return records.consume(question);
            case "consume_in_group":
                return records.consumeInGroup(question);
            case "watermarks":
                return records.watermarks(question);
            case "offset_for_time":
                return records.offsetForTime(question);
            case "begin":
                return transactions.begin(question);
            case "end":
                return transactions.end(question);
            default:
                return administration.answer(verb, question);
        }
    }
}
