"""The stack without data: functions, queues, topics, API, workflows and alarms."""

from __future__ import annotations

from importlib.metadata import version

import aws_cdk as cdk
from constructs import Construct

from infra.alerts import Alerts
from infra.analysis import Analysis
from infra.api import Api
from infra.catalog import Catalog
from infra.data_stack import DataStack
from infra.deployment import Deployment
from infra.exports import Exports
from infra.functions import PythonFunction
from infra.ingestion import Ingestion
from infra.layers import Layers
from infra.monitoring import Monitoring
from infra.news import News
from infra.observations import Observations
from infra.page import Page
from infra.roles import put_policies_into_roles
from infra.search import Search
from infra.sentiment import Sentiment
from infra.workflows import DeclaredWorkflows, RunClosing, Workflow
from sourcebook.table.keys import ONE_SHARD, SHARDS_VARIABLE


class PipelineStack(cdk.Stack):
    """The pipeline, in the order of the data. Deleting it loses only messages in flight."""

    def __init__(
        self, scope: Construct, construct_id: str, *, deployment: Deployment, data: DataStack
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            description="Sourcebook: ingestion, analysis, read side, workflows, alarms.",
            # CloudFormation takes a megabyte; a third of the template was blanks.
            suppress_template_indentation=True,
        )
        layers = Layers(self, "Layers", deployment=deployment)
        ingestion = Ingestion(self, "Ingestion", deployment=deployment, data=data, layers=layers)
        analysis = Analysis(
            self, "Analysis", deployment=deployment, data=data, layers=layers, articles=ingestion.articles
        )
        news = News(self, "News", data=data, layers=layers, lines=deployment.grouping_lines)
        news.add_fetching(ingestion.fetch, data.api_keys)
        observations = Observations(self, "Observations", data=data, layers=layers)
        observations.add_fetching(ingestion.fetch)
        api = Api(self, "Api", deployment=deployment, data=data, layers=layers)
        analysis.add_deciding(api, deployment)
        search = Search(self, "Search", deployment=deployment, data=data, layers=layers)
        search.add_reading(api)
        alerts = Alerts(self, "Alerts", data=data)
        alerts.add_firing(search.index, news.bus, deployment)
        alerts.add_managing(api)
        Page(self, "Page", api=api, data=data, layers=layers)
        sentiment = Sentiment(self, "Sentiment", deployment=deployment, data=data, layers=layers)
        sentiment.add_reading(api)
        refresh = Workflow(
            self,
            "RefreshSources",
            name="refresh_sources",
            functions={"dispatch_sources": ingestion.dispatch},
            table=data.table,
        )
        catalog = Catalog(self, "Catalog", deployment=deployment, data=data, layers=layers)
        catalog.add_review(api)
        exports = Exports(self, "Exports", data=data, layers=layers)
        exports.add_reading(api)
        declared = DeclaredWorkflows(self, "Declared", data=data, layers=layers)
        closing = RunClosing(self, "RunClosing", data=data, layers=layers)
        api.add_workflows(part for part in self.node.find_all() if isinstance(part, Workflow))
        works = {"fetch": ingestion.work, "analyze": analysis.work, **news.queues}
        api.add_dead_letters({name: work.dead_letters for name, work in works.items()})
        if deployment.shards != ONE_SHARD:
            for part in self.node.find_all():
                if isinstance(part, PythonFunction):
                    part.function.add_environment(SHARDS_VARIABLE, str(deployment.shards))
        if deployment.traces:
            for part in self.node.find_all():
                if isinstance(part, PythonFunction | Workflow):
                    part.trace()
        monitoring = Monitoring(
            self,
            "Monitoring",
            deployment=deployment,
            dispatch=ingestion.dispatch,
            api=api.api,
            shown=(ingestion.dispatch, ingestion.fetch, analysis.analyze, analysis.heal, api.function),
        )
        monitoring.alarm_on_any(
            "work-overdue",
            [analysis.waiting(), catalog.spectra.overdue()],
            periods=(2, 3),
            meaning="Articles wait for over an hour though they were announced again, or a spectrum has been "
            "due for over an hour.",
            action="See which of both, and whether what works it off runs, fails or is only outnumbered.",
        )
        ingestion.add_monitoring(monitoring, deployment)
        news.add_monitoring(monitoring, ingestion.fetch, deployment)
        catalog.spectra.add_monitoring(monitoring)
        observations.add_monitoring(monitoring, ingestion.fetch)
        analysis.add_monitoring(monitoring)
        for name, value in {
            "Version": version("sourcebook"),
            "ApiId": api.api.api_id,
            "ApiUrl": api.api.api_endpoint,
            "TableName": data.table.table_name,
            "BucketName": data.bucket.bucket_name,
            "IndexShards": str(deployment.shards),
            "FetchQueueUrl": ingestion.work.queue.queue_url,
            "FetchDeadLetterQueueUrl": ingestion.work.dead_letters.queue_url,
            "AnalyzeQueueUrl": analysis.work.queue.queue_url,
            "AnalyzeDeadLetterQueueUrl": analysis.work.dead_letters.queue_url,
            "NewArticlesQueueUrl": news.queues["new-articles"].queue.queue_url,
            "NewArticlesDeadLetterQueueUrl": news.queues["new-articles"].dead_letters.queue_url,
            "GroupQueueUrl": news.queues["group"].queue.queue_url,
            "GroupDeadLetterQueueUrl": news.queues["group"].dead_letters.queue_url,
            "IdeasQueueUrl": news.queues["ideas"].queue.queue_url,
            "IdeasDeadLetterQueueUrl": news.queues["ideas"].dead_letters.queue_url,
            "ArticleTopicArn": ingestion.articles.topic_arn,
            "EventBusName": news.bus.event_bus_name,
            "TiingoSecretName": data.api_keys.name("tiingo"),
            "FinnhubSecretName": data.api_keys.name("finnhub"),
            "AlarmTopicArn": monitoring.topic.topic_arn,
            "DispatchFunctionName": ingestion.dispatch.function.function_name,
            "FetchFunctionName": ingestion.fetch.function.function_name,
            "AnalyzeFunctionName": analysis.analyze.function.function_name,
            "HealFunctionName": analysis.heal.function.function_name,
            "TriggerFunctionName": news.trigger.function.function_name,
            "GroupFunctionName": news.group.function.function_name,
            "IdeasFunctionName": news.ideas.function.function_name,
            "CloseRunsFunctionName": closing.function.function.function_name,
            "ApiFunctionName": api.function.function.function_name,
            "RefreshSourcesArn": refresh.machine.state_machine_arn,
            **declared.outputs(),
            **catalog.outputs(),
            **sentiment.outputs(),
            **search.outputs(),
            **exports.outputs(),
            **alerts.outputs(),
            "RebuildFunctionName": observations.rebuild.function.function_name,
            "RebuildCanonicalArn": observations.workflow.machine.state_machine_arn,
        }.items():
            cdk.CfnOutput(self, name, value=value)
        put_policies_into_roles(self)
