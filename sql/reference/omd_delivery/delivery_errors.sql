-- The errors of deliveries. omd.error_catalogue says how the templates are filled.

INSERT INTO omd.error_catalogue (sqlstate_code, error_name, message_template, hint_template)
VALUES
(
    'OM032', 'UnknownTenant', 'tenant "{tenant_code}" is not registered',
    'CALL omd_delivery.register_tenant({tenant_code_literal}, …);'
),
(
    'OM033', 'UnknownAgreement', 'agreement "{agreement_code}" is not registered',
    'SELECT agreement_code FROM omd_delivery.agreement; or CALL '
    'omd_delivery.register_agreement({agreement_code_literal}, …);'
),
(
    'OM034', 'UnknownDelivery', 'there is no delivery {delivery_id}',
    'SELECT * FROM omd_report.delivery_log;'
),
(
    'OM036', 'DeliveryArgumentInvalid', '{argument} can''t be {value}: {problem}',
    'See docs/explanation/delivery.md.'
),
(
    'OM037', 'DeliveryOvertaken', 'entity "{entity}" was delivered at {high_water_mark}',
    'Deliver a later state: SELECT * FROM omd_report.delivery_marks;'
),
(
    'OM038', 'DeliveryInFuture', 'the time {snapshot_datetime} of the delivery is in the future',
    'Give the time at which the data was taken from the source.'
),
(
    'OM039', 'NoContext', 'the Full entity "{entity}" has no context: neither {parents} is there',
    'Deliver a parent with it, name keys in p_context, or give the entity "context": "ALL" or '
    '"ROWS".'
),
(
    'OM040', 'MeasuresInvalid', 'the measures of {entity} in delivery {delivery_id}: {problem}',
    'SELECT omd_delivery.validation_plan({delivery_id}, 1);'
),
(
    'OM041', 'EntityMissing', 'a delivery under "{agreement_code}" must be complete: {missing}',
    'Deliver these entities too.'
),
(
    'OM130', 'WrongDeliveryState',
    'delivery {delivery_id} is {delivery_status} and can''t {action}',
    'SELECT * FROM omd_delivery.delivery_event WHERE delivery_id = {delivery_id};'
),
(
    'OM131', 'DeliveryPending',
    'delivery {delivery_id} of agreement "{agreement_code}" is {delivery_status}',
    'Run it, or CALL omd_delivery.cancel_delivery({delivery_id}, …);'
),
(
    'OM132', 'AttemptFenced',
    'run {attempt} of delivery {delivery_id} has ended; its newest run is {newest_attempt}',
    'Stop this program. SELECT * FROM omd_report.delivery_state WHERE delivery_id = {delivery_id};'
),
(
    'OM133', 'NotReverted', 'delivery {delivery_id} can''t be taken back: {problem}',
    'Deliver the former state again as a new delivery.'
),
(
    'OM134', 'DeltaMisfit', 'the delta of {entity} in delivery {delivery_id}: {problem}',
    'CALL omd_delivery.fail_delivery({delivery_id}, …); then begin again.'
),
(
    'OM135', 'QueueItemNotReady', 'item {queue_id} of the queue: {problem}',
    'SELECT * FROM omd_report.delivery_queue;'
),
(
    'OM232', 'AgreementNotEffective', 'agreement "{agreement_code}" {problem}',
    'CALL omd_delivery.register_agreement({agreement_code_literal}, …);'
)
ON CONFLICT (sqlstate_code) DO UPDATE SET
    error_name = excluded.error_name,
    message_template = excluded.message_template,
    hint_template = excluded.hint_template;
